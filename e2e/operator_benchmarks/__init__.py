"""The operator at scale, with nodes and pods by kwok: `make bench-operator`.

Real are the control plane, with the controllers that make pods, and the operator, as a process with
its own rights. The API server counts what the operator asks of it.
"""
