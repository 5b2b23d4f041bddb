#!/usr/bin/env bash
# Builds Citus for PostgreSQL 17 and starts a cluster on loopback, as root: a coordinator (port 9700) and workers (9701 to 9703, of
# which nobody knows the last one yet). Superuser postgres, no passwords.
#
#   citus-cluster.sh build <git directory of citusdata/citus>   once, about 5 minutes on two cores
#   citus-cluster.sh start                                      fresh and empty
#   citus-cluster.sh stop
#   citus-cluster.sh crash|resume <port>                        a server ends without a checkpoint; it starts again
#
# Debian 12 has no PostgreSQL 17 and no Debian has Citus, so it builds in a tree of its own under ${CITUS_ROOT:-/var/tmp/citus}.
set -euo pipefail
root=${CITUS_ROOT:-/var/tmp/citus} tag=${CITUS_TAG:-v13.2.2} ports=(9700 9701 9702 9703) bin=/usr/lib/postgresql/17/bin
run() { chroot "$root" runuser -u postgres -- "$@"; }
control() { local port=$1; shift; run $bin/pg_ctl -D "/data/$port" -l "/data/$port.log" -w "$@" >/dev/null; }
case ${1:-} in
build)
  [ -d "${2:-}" ] || { echo 'Give the git directory of citusdata/citus.' >&2; exit 2; }
  command -v debootstrap >/dev/null || { apt-get update -qq; apt-get install -y -qq debootstrap; }
  mirror=$(awk '/^URIs:/{print $2; exit}' /etc/apt/sources.list.d/debian.sources)
  packages=ca-certificates,build-essential,autoconf,flex,bison,libssl-dev,libcurl4-openssl-dev,liblz4-dev,libzstd-dev,libreadline-dev
  packages+=,zlib1g-dev,libxslt1-dev,libxml2-dev,libpam0g-dev,libselinux1-dev,libkrb5-dev,libicu-dev,libpq-dev,postgresql-17,postgresql-server-dev-17
  [ -x "$root$bin/postgres" ] || debootstrap --variant=minbase --include="$packages" trixie "$root" "$mirror"
  mkdir -p "$root/src"
  git -C "$2" archive --prefix=citus/ "$tag" | tar x -C "$root/src"
  chroot "$root" bash -ec "cd /src/citus; export PG_CONFIG=$bin/pg_config; ./configure --without-libcurl; make -s -j2; make -s install" >"$root/build.log" 2>&1
  ;;
start)
  [ -x "$root$bin/postgres" ] || { echo "There is no Citus in $root: run $0 build first." >&2; exit 2; }
  "$0" stop
  mkdir -p "$root/data"
  chroot "$root" chown postgres /data
  for port in "${ports[@]}"; do
    rm -rf "${root:?}/data/$port"
    run $bin/initdb -D "/data/$port" -A trust -U postgres --no-instructions >/dev/null
    printf '%s\n' "shared_preload_libraries='citus'" "port=$port" "listen_addresses='127.0.0.1'" "unix_socket_directories='/tmp'" \
      'wal_level=logical' 'max_connections=300' 'max_prepared_transactions=300' 'max_worker_processes=64' >>"$root/data/$port/postgresql.conf"
    control "$port" start
  done
  ;;
stop) for port in "${ports[@]}"; do control "$port" -m fast stop 2>/dev/null || true; done ;;
crash) control "$2" -m immediate stop ;;
resume) control "$2" start ;;
*) sed -n '2,9p' "$0" >&2; exit 2 ;;
esac
