"""`make soak`: an hour of everything at once on one replica, which must stay as it was."""
