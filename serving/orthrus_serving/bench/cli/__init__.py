"""The commands of `orthrus bench`."""
