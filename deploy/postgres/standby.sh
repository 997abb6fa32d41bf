#!/usr/bin/env bash
# The start of the standby's container: copies the primary once, and follows it.
set -euo pipefail

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  primary="host=$PRIMARY_HOST user=$PRIMARY_USER application_name=standby"
  until pg_basebackup --pgdata="$PGDATA" --dbname="$primary" --write-recovery-conf \
    --wal-method=stream --checkpoint=fast; do
    echo "The primary does not answer yet" >&2
    sleep 2
  done
  # Once it is the primary, it has no standby to wait for.
  echo "synchronous_standby_names = ''" >>"$PGDATA/postgresql.auto.conf"
fi
exec docker-entrypoint.sh postgres
