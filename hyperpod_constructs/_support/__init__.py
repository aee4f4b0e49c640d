"""Small adapters for every floor: tokens of the CDK, arguments, text for a terminal."""
