"""Load on real replicas, the real autoscaler between them, and a record of what happened."""
