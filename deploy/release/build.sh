#!/bin/sh
# Builds what a release consists of, from the commit that is checked out: sh deploy/release/build.sh <new directory>
# - phds-<version>.tar.gz for machines without containers, and phds-<version>.cdx.json, the SBOM (CycloneDX);
# - the images, if a Docker daemon answers;
# - SHA256SUMS, and its signature SHA256SUMS.sig if RELEASE_KEY names an Ed25519 key (PKCS #8 PEM).
# It needs git, npm and Node 24 or later on the PATH. After a failure the directory is removed.
set -eu
output=${1:?which new directory?}
node -e 'process.exit(parseInt(process.versions.node) < 24 ? 1 : 0)' 2>/dev/null ||
  { echo "Node 24 or later is needed on the PATH, not $(node --version 2>/dev/null || echo none)." >&2; exit 1; }
mkdir "$output"
output=$(cd "$output" && pwd)
version=$(node -p 'require("./package.json").version')
commit=$(git rev-parse HEAD)
work=$(mktemp -d)
trap 'status=$?; rm -rf "$work"; [ "$status" -eq 0 ] || rm -rf "$output"' EXIT
trap 'exit 1' INT TERM

git clone --quiet --shared --no-checkout . "$work/source"
cd "$work/source"
git checkout --quiet --detach "$commit"

# The pnpm that package.json pins, as the command that collect.sh calls. Only a later one writes an SBOM.
mkdir "$work/bin"
printf '#!/bin/sh\nexec npx -y %s "$@"\n' "$(node -p 'require("./package.json").packageManager')" >"$work/bin/pnpm"
chmod +x "$work/bin/pnpm"
export CI=true PATH="$work/bin:$PATH"
npx -y pnpm@11.28.11 --config.manage-package-manager-versions=false --config.pm-on-fail=ignore sbom --lockfile-only --prod \
  --sbom-format cyclonedx --sbom-spec-version 1.6 --sbom-type application >"$output/phds-$version.cdx.json"

if docker info >/dev/null 2>&1; then
  image() {
    docker build -f deploy/Dockerfile --label "org.opencontainers.image.version=$version" \
      --label "org.opencontainers.image.revision=$commit" "$@" .
  }
  for service in gateway authorization consent health-data; do
    image --build-arg "SERVICE=$service" -t "phds/$service:$version"
  done
  image --target operator -t "phds/operator:$version"
else
  echo 'No Docker daemon answers: no images were built.' >&2
fi

# What the service runs with and what generates its code, as for `npm start`.
pnpm install --frozen-lockfile --prefer-offline --ignore-scripts --silent --prod --filter './services/*' --filter './packages/*'
node packages/local-stack/bin/generate.ts --all
release="$work/phds-$version"
for built in packages/web/dist packages/docs/dist packages/sdk/dist; do mkdir -p "$release/${built%/*}" && cp -a "$built" "$release/${built%/*}/"; done
sh deploy/collect.sh "$release" services/gateway services/authorization services/consent services/health-data \
  packages/cli packages/service-kit
for migrations in services/*/prisma/migrations; do
  mkdir -p "$release/${migrations%/*}" && cp -a "$migrations" "$release/${migrations%/*}/"
done
mkdir -p "$release/packages/service-kit/bin" "$release/deploy"
cp packages/service-kit/bin/migrate.ts "$release/packages/service-kit/bin/"
cp -a deploy/*.sql deploy/healthcheck.mjs deploy/systemd deploy/haproxy deploy/prometheus "$release/deploy/"
cp CHANGELOG.md "$release/"
tar -C "$work" --owner=0 --group=0 -czf "$output/phds-$version.tar.gz" "phds-$version"

cd "$output"
sha256sum "phds-$version.tar.gz" "phds-$version.cdx.json" >SHA256SUMS
if [ -n "${RELEASE_KEY:-}" ]; then openssl pkeyutl -sign -rawin -inkey "$RELEASE_KEY" -in SHA256SUMS -out SHA256SUMS.sig; fi
ls -l
