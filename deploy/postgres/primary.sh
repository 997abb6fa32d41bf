#!/usr/bin/env bash
# Runs once in the container of the primary, when its database was made: lets the standby in. From
# the next start on, each commit waits for the standby.
set -euo pipefail

echo "host replication $POSTGRES_USER all scram-sha-256" >>"$PGDATA/pg_hba.conf"
psql --no-psqlrc --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
alter system set wal_keep_size = '1GB';
alter system set synchronous_standby_names = 'standby';
SQL
