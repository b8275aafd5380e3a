"""Command line of the data plane."""
