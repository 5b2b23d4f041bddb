#!/bin/sh
# Gives the workspace the version of the next release: sh deploy/release/prepare.sh 1.0.0, or 1.0.0-rc.2 before it
# Changes all package.json, the images in deploy/kubernetes and the heading `Unreleased` of CHANGELOG.md. Commits nothing.
# Then:
# 1. `.ci/run` is green. Commit, and tag the commit on the main branch with `v` and the version.
# 2. In a clone of the tag, with Node 24: RELEASE_KEY=key.pem sh deploy/release/build.sh out
# 3. In the next commit: `pnpm release:proto`, and a section `## Unreleased` in CHANGELOG.md.
set -eu
next=${1:?which version?}
echo "$next" | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+(-rc\.[0-9]+)?' || { echo "$next is not a version such as 1.0.0 or 1.0.0-rc.1" >&2; exit 1; }
last=$(node -p 'require("./package.json").version')

dashed() { echo "$1" | tr . -; }
replace() { sed -e "$1" "$2" >"$2.new" && cat "$2.new" >"$2" && rm "$2.new"; }
for file in $(git ls-files '*package.json'); do replace "s/^  \"version\": \"$last\"/  \"version\": \"$next\"/" "$file"; done
for file in $(git ls-files 'deploy/kubernetes/*kustomization.yaml'); do
  replace "s/newTag: \"$last\"/newTag: \"$next\"/; s/^nameSuffix: -$(dashed "$last")\$/nameSuffix: -$(dashed "$next")/" "$file"
done
for file in docs/partners/sdk.md packages/sdk/README.md; do replace "s/phds-sdk-$last\.tgz/phds-sdk-$next.tgz/" "$file"; done
replace "s/VERSION=$last ARCHIVE=phds-$last\./VERSION=$next ARCHIVE=phds-$next./" docs/operations/first-deployment.md
replace "s/^## Unreleased\$/## $next/" CHANGELOG.md
