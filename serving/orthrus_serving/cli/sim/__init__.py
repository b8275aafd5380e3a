"""`orthrus sim`: the edges of the simulator, which are arguments, tables and files."""
