"""Pure decisions: what should exist, and what status the observed world amounts to."""
