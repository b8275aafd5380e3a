"""The half that talks to the API server: read, apply, prune, write status."""
