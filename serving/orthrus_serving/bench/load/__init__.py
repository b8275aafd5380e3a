"""Clients that keep a server busy, or that follow a schedule."""
