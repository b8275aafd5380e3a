"""How much the client itself can send, against a server that does no work."""
