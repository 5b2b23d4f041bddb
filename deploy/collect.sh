#!/bin/sh
# Copies what workspace packages need at run time to a directory with the workspace's layout:
#   sh deploy/collect.sh <directory> <path of a package>...
# For builds only: it replaces the installed dependencies of the workspace in which it runs, and moves them.
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
packages=$(pnpm "$@" list --depth -1 --parseable)
mv node_modules "$target/"
for package in $packages; do
  copy="$target/${package#"$PWD"/}"
  mkdir -p "$copy"
  for part in package.json src gen dist; do
    if [ -e "$package/$part" ]; then cp -a "$package/$part" "$copy/"; fi
  done
  if [ -e "$package/node_modules" ]; then mv "$package/node_modules" "$copy/"; fi
done

# Types, source maps, and Prisma's query compilers for other databases would be half of the image.
find "$target/node_modules" -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete
find "$target/node_modules" -type f -name 'query_compiler_*' ! -name '*.postgresql.*' -delete
