#!/bin/sh
# Releases an installation from the directory that describes it, with kubectl: sh deploy/kubernetes/release.sh deploy/kubernetes/production
# Migrations first, then the services in their order. It stops at the first failure, and what runs keeps running.
set -eu
directory=${1:?which directory describes the installation?}

jobs=$(kubectl apply -k "$directory/migrations" -o name)
for job in $jobs; do
  # `kubectl wait` knows only one condition, and a failed job never completes.
  until kubectl -n phds wait --for=condition=complete --timeout=5s "$job" >/dev/null 2>&1; do
    # Fails, and ends the release, when the job is gone or the cluster does not answer.
    failed=$(kubectl -n phds get "$job" -o 'jsonpath={.status.conditions[?(@.type=="Failed")].status}')
    if [ "$failed" = True ]; then
      kubectl -n phds logs "$job" --tail=50 >&2 || true
      echo "$job failed. Nothing was replaced. When the cause is gone: kubectl -n phds delete $job, and release again." >&2
      exit 1
    fi
  done
done

kubectl apply -k "$directory" -l 'app.kubernetes.io/component in (settings, network)'
for service in consent authorization health-data gateway; do
  kubectl apply -k "$directory" -l "app.kubernetes.io/name=$service"
  if ! kubectl -n phds rollout status "deployment/$service" --timeout=15m; then
    echo "The new replicas of $service did not become ready. Its old ones serve on; the services before it run the new release." >&2
    echo "When the cause is gone, release again. Or go back from $service on: docs/operations/deploy.md#releases." >&2
    exit 1
  fi
done
kubectl apply -k "$directory"
