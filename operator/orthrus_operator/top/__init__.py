"""`orthrus top`: what OrthrusDeployments and their replicas do, as `kubectl top` would show it.

It asks the API server, with the rights of whoever calls it, and needs neither Prometheus nor the
operator.
"""
