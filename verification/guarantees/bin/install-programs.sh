#!/usr/bin/env bash
# Installs what `pnpm prove:failover` and `pnpm prove:backup` run, without touching the packages of this machine: a Debian 13 system in
# a directory of its own, with PostgreSQL 17, Patroni, etcd, pgBackRest and haproxy (850 MB, 3 minutes). Needs root and debootstrap.
#
#   verification/guarantees/bin/install-programs.sh /opt/phds-databases
#   PHDS_DATABASE_PROGRAMS=/opt/phds-databases pnpm prove:failover
#
# To remove it, delete the directory.
set -euo pipefail

directory=${1:?usage: install-programs.sh <directory>}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
packages=postgresql-17,patroni,python3-psycopg2,python3-etcd,etcd-server,pgbackrest,haproxy,openssl

if [ "$(id -u)" -ne 0 ]; then
  echo 'debootstrap and chroot need root.' >&2
  exit 1
fi
if ! command -v debootstrap >/dev/null; then
  echo 'Missing: debootstrap. On Debian or Ubuntu: apt-get install debootstrap' >&2
  exit 1
fi
if [ -e "$directory" ]; then
  echo "$directory exists already: remove it, or use it." >&2
  exit 1
fi

debootstrap --variant=minbase --include="$packages" trixie "$directory" "$mirror"
rm -rf "$directory"/var/cache/apt/archives/*.deb
echo "Installed. Run: PHDS_DATABASE_PROGRAMS=$directory pnpm prove:failover"
