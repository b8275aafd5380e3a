"""The real monitoring parts on the local cluster, and the dashboard's generator."""
