"""The OrthrusDeployment API: the Python types are the only source; the CRD and its docs follow."""
