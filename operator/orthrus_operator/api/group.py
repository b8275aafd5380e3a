"""Names of the API group, and the labels that mark what belongs to an OrthrusDeployment."""

GROUP = "serving.orthrus.io"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
KIND = "OrthrusDeployment"
PLURAL = "orthrusdeployments"
CRD_NAME = f"{PLURAL}.{GROUP}"

DEPLOYMENT_LABEL = f"{GROUP}/deployment"
"""On every child and pod; its value is the OrthrusDeployment's name. The only selector label, so
that no chart's `app.kubernetes.io/*` labels can ever match our pods."""
