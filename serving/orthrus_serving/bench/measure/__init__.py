"""Figures from timed requests."""
