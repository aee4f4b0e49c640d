"""What a template refers to: names, attributes, parameters, exports and the arguments of functions."""
