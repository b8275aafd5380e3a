"""The kopf edge: watch events wake the queue; nothing else happens here."""
