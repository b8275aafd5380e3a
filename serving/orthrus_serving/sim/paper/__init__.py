"""The paper's experiments in the simulator, and how far its figures come out."""
