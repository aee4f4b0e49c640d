"""Doubles that run on the nodes; the image's recipe installs them under the names that they stand for."""
