module orthrus.invalid/e2e/cluster/gatewayapi

go 1.25

require sigs.k8s.io/gateway-api v1.4.0
