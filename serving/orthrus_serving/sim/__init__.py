"""Replicas and fleets in simulated time: the scheduler is the engine's, the step time a model."""
