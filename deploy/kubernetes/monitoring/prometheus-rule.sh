#!/bin/sh
# Prints deploy/prometheus/alerts.yml as an object of the Prometheus operator: sh prometheus-rule.sh | kubectl apply -f -
set -eu
cat <<END
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: phds
  namespace: phds
  labels: { app.kubernetes.io/part-of: phds }
spec:
END
sed 's/^/  /' "$(dirname "$0")/../../prometheus/alerts.yml"
