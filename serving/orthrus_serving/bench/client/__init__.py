"""Requests over HTTP, timed."""
