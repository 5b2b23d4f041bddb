#!/bin/sh
# Copies what workspace packages need at run time to a directory with the workspace's layout:
#   sh deploy/collect.sh <directory> <path of a package>...
# For image builds only: it replaces the installed dependencies of the workspace in which it runs.
set -eu
target=$1
shift

# --filter-prod leaves out packages that are needed only by tests.
for path in "$@"; do
  set -- "$@" --filter-prod "{./$path}..."
  shift
done

rm -rf node_modules ./*/node_modules ./*/*/node_modules
pnpm install --offline --frozen-lockfile --ignore-scripts --prod --no-optional "$@"

mkdir -p "$target"
cp -a node_modules "$target/"
pnpm "$@" list --depth -1 --parseable | while read -r package; do
  copy="$target/${package#"$PWD"/}"
  mkdir -p "$copy"
  for part in package.json node_modules src gen dist; do
    if [ -e "$package/$part" ]; then cp -a "$package/$part" "$copy/"; fi
  done
done

# Types, source maps, and Prisma's query compilers for other databases would be half of the image.
find "$target/node_modules" -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete
find "$target/node_modules" -type f -name 'query_compiler_*' ! -name '*.postgresql.*' -delete
