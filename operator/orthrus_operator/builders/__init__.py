"""One pure function per object kind: from an OrthrusDeployment to the object it needs."""
