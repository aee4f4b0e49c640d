"""Doubles of what is closed: each is written from the public protocol, and imitates no more than that says."""
