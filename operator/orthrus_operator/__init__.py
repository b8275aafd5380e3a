"""Orthrus control plane: OrthrusDeployment objects become one-GPU model replicas."""
