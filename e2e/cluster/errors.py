"""The one error that a user of the local cluster sees: a sentence that says what is wrong and what to do."""


class ClusterError(Exception):
    """Raised for anything that the user can act on; the command line prints it as one line."""
