"""The one error that a user of the cluster sees: what is wrong, and what to do."""


class ClusterError(Exception):
    """Raised for anything that the user can act on; the command line prints it as one line."""
