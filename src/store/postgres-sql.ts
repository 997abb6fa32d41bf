/** The statements of the hot path on PostgreSQL, prepared by these names on each connection. */
export const SQL = {
  caller: `
    select id as key_id, account_id, last_used_ms from keys
    where secret_sha256 = $1 and revoked_ms is null`,
  touch: `
    update keys set last_used_ms = $2::bigint
    where id = $1 and coalesce(last_used_ms, -1) < $2::bigint`,
  hold: `
    with admitted as (
      update accounts set held_nano = held_nano + $3::bigint
      where id = $2 and balance_nano - held_nano >= $3::bigint
      returning id
    )
    insert into holds (request_id, account_id, process_id, amount_nano, created_ms)
    select $1, id, $4, $3::bigint, $5::bigint from admitted`,
  figures: `select balance_nano, held_nano from accounts where id = $1`,
  settle: `
    with entry as (
      insert into ledger (account_id, kind, reference, amount_nano, key_id, model, provider,
        usage, estimated, created_ms)
      values ($1, 'charge', $2, -$3::bigint, $4, $5, $6, $7, $8, $9::bigint)
      on conflict (account_id, kind, reference) do nothing
      returning id
    ), ended as (
      delete from holds where request_id = $2 and account_id = $1 returning amount_nano
    ), paid as (
      update accounts set
        balance_nano = balance_nano
          - case when exists (select from entry) then $3::bigint else 0 end,
        held_nano = held_nano - coalesce((select amount_nano from ended), 0)
      where id = $1 and (exists (select from entry) or exists (select from ended))
    )
    select exists (select from entry) as first`,
  release: `
    with ended as (
      delete from holds where request_id = $2 and account_id = $1 returning amount_nano
    )
    update accounts set held_nano = held_nano - (select amount_nano from ended)
    where id = $1 and exists (select from ended)`,
  beat: `
    insert into processes (id, place, pid, started_ms, seen_ms, note)
    values ($1, $2, $3::bigint, $4::bigint, $5::bigint, $6)
    on conflict (id) do update set
      seen_ms = excluded.seen_ms, note = coalesce(excluded.note, processes.note)`,
  leave: `
    delete from processes
    where id = $1 and not exists (select from holds where process_id = $1)`,
  ping: `select 1`,
} as const;
