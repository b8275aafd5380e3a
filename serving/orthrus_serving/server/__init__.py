"""The HTTP edge of a replica: life cycle, routes, metrics."""
