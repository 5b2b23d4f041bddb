#!/bin/sh
# Runs a command of an operator, or an import, as a job of the cluster, prints its output, and ends with its exit code:
#
#   sh deploy/kubernetes/phds.sh apps suspend CLIENT_ID --reason TEXT
#
# PHDS_INSTALLATION is your copy of the directory production. Words with --user-file run as its job `person`, imports as `import`, others
# as `command`. Who interrupts this script does not interrupt the job.
set -eu
installation=${PHDS_INSTALLATION:-$(dirname "$0")/production}
kind=command
for word; do
  case $word in --user-file*) kind=person ;; esac
done
case ${1:-} in import | imports) kind=import ;; esac

# A manifest for `kubectl create`, which chooses the name. The words are texts of JSON, which YAML contains.
job=$(kubectl kustomize "$installation/$kind" | awk '
  BEGIN {
    for (i = 1; i < ARGC; i++) {
      word = ARGV[i]
      gsub(/["\\]/, "\\\\&", word); gsub(/\n/, "\\n", word); gsub(/\t/, "\\t", word)
      words[i] = "\"" word "\""
    }
    count = ARGC
    ARGC = 1
  }
  /^  name: / { sub(/name: .*/, "generateName: phds-") }
  { print }
  $2 == "packages/cli/src/main.ts" { for (i = 1; i < count; i++) print substr($0, 1, index($0, "-") + 1) words[i] }
' "$@" | kubectl create -f - -o name)
echo "$job" >&2

# `kubectl wait` knows only one condition, and a failed job never completes.
until kubectl -n phds wait --for=condition=complete --timeout=2s "$job" >/dev/null 2>&1; do
  # Fails when the job is gone or the cluster does not answer.
  failed=$(kubectl -n phds get "$job" -o 'jsonpath={.status.conditions[?(@.type=="Failed")].status}')
  if [ "$failed" = True ]; then break; fi
done
pods="job-name=${job#*/}"
kubectl -n phds logs --selector "$pods" --tail=-1
code=$(kubectl -n phds get pods --selector "$pods" -o 'jsonpath={.items[-1:].status.containerStatuses[0].state.terminated.exitCode}')
exit "${code:-1}"
