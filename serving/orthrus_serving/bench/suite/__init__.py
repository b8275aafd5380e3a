"""`orthrus bench suite`: starts systems itself and measures them in turn on equal devices."""
