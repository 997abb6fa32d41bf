import { POSTGRES_CLOCK_MS } from '../database.js';
import { CHARGE_COLUMNS, CHARGE_NAMES } from '../ledger/ledger-columns.js';
import { ALLOWANCE_LIST } from '../limits/allowances.js';
import { AHEAD_MS } from '../rates/rate-counts.js';
import { REQUEST_COLUMNS, REQUEST_NAMES, REQUEST_TYPES } from '../requests/request-columns.js';

const REQUEST_LIST = REQUEST_NAMES.join(', ');

/** A list of parameters of these types; the first has the number `from`. */
const parameters = (from: number, types: readonly string[]): string =>
  types.map((type, at) => `$${from + at}::${type}`).join(', ');

const TYPES = CHARGE_COLUMNS.map(({ type }) => (type === 'nano' ? 'bigint' : type));
/** The charge columns are the last parameters of a charge, so that their number can grow. */
const COLUMNS_FROM = { charge: 8, chargeKept: 13, chargeAll: 7 };

/** The record, or the list of records, follows the charge columns. */
const recordsAt = (columns_from: number): string => `$${columns_from + CHARGE_COLUMNS.length}`;
const KEPT = parameters(8, ['text', 'text', 'bigint', 'integer', 'text']);

/** What a window has left at the time `now`, beside all that it holds. */
const leftInWindow = (now: string): string =>
  `amount_nano + case when extra_until_ms > ${now}::bigint then extra_nano else 0 end
      - spent_nano - held_nano as left_nano`;

/**
 * Holds $3 for the account $2 and the key $6, as the given rows. The key stays locked until the
 * commit, so that a revocation, or a change of its terms, comes either before the hold or after it.
 * $7 are the calendar windows of now, as `{"day": [begin, end], …}`; any other window begins with
 * the hold that finds the one before it ended.
 */
const holding = (row: string, from: string) => `
    with key as materialized (
      select id as key_id, limit_nano, spent_nano, held_nano, revoked_ms, expires_ms from keys
      where id = $6 for no key update
    ), allowance as materialized (
      select ${ALLOWANCE_LIST} from allowances
      where ((owner_kind = 'account' and owner_id = $2) or (owner_kind = 'key' and owner_id = $6))
        and (select count(*) from key) >= 0
      order by id for no key update
    ), open_window as materialized (
      select id, begins_ms, ends_ms, spent_nano, held_nano, ${leftInWindow('$5')}
      from allowance where ends_ms > $5::bigint
      union all
      select id, greatest(ends_ms, coalesce(($7::json -> window_name ->> 0)::bigint, $5::bigint)),
        coalesce(($7::json -> window_name ->> 1)::bigint, $5::bigint + window_ms), 0, 0,
        left_nano + spent_nano + held_nano
      from (select ${ALLOWANCE_LIST}, ${leftInWindow('$5')}
        from allowance where ends_ms <= $5::bigint) as ended
    ), admitted as (
      update accounts set held_nano = held_nano + $3::bigint
      where id = $2 and balance_nano - held_nano >= $3::bigint and suspended_ms is null
        and not exists (
        select from key where revoked_ms is not null or expires_ms <= $5::bigint
          or limit_nano - spent_nano - held_nano < $3::bigint)
        and not exists (select from open_window where left_nano < $3::bigint)
      returning id
    ), counted as (
      update keys set held_nano = held_nano + $3::bigint
      where id = $6 and (select limit_nano from key) is not null
        and exists (select from admitted)
    ), counted_in_windows as (
      update allowances set begins_ms = open_window.begins_ms, ends_ms = open_window.ends_ms,
        spent_nano = open_window.spent_nano, held_nano = open_window.held_nano + $3::bigint
      from open_window where allowances.id = open_window.id and exists (select from admitted)
    )
    insert into holds (request_id, account_id, process_id, amount_nano, created_ms, key_id, windows)
    select ${row}, $5::bigint, (select key_id from key where limit_nano is not null),
      (select json_object_agg(id, begins_ms order by id) from open_window) from ${from}
    returning windows`;

/** The values of a record; what was collected comes from the ledger entry. */
const RECORD_VALUES = REQUEST_COLUMNS.map(({ name }) => {
  if (name === 'cost_nano') return '-entry.amount_nano';
  return name === 'uncollected_nano' ? 'entry.uncollected_nano' : `record.${name}`;
}).join(', ');

/** Inserts the records, a JSON list, of the requests that were charged. */
const recording = (parameter: string) => `
    recorded as (
      insert into requests (${REQUEST_LIST})
      select ${RECORD_VALUES}
      from json_to_recordset(${parameter}::json) as record (${REQUEST_TYPES})
      join entry on entry.reference = record.id
      on conflict (id) do nothing
    )`;

/** `first` runs before the charge; `condition` guards the charge and the end of the hold. */
interface Charging {
  columns_from: number;
  first: string;
  condition: string;
}

/**
 * Ends the hold, then collects as much of $3 as the account, the key and the windows of the hold
 * allow. `least` ignores the null of a hold without windows, and of a key without a limit, which is
 * locked too: its first limit must miss no charge. $7 names the windows of a hold that is gone. A
 * missing account breaks the ledger's foreign key. The ledger notes the rest as uncollected,
 * together with $6, the cost that the client does not owe.
 */
const charging = ({ columns_from, first, condition }: Charging) => `
    with ${first} ended as (
      delete from holds where request_id = $2 and account_id = $1 ${condition}
      returning amount_nano, key_id, windows
    ), key as materialized (
      select limit_nano, limit_nano - spent_nano - held_nano as left_nano from keys
      where id = $4 and (select count(*) from ended) >= 0
      for no key update
    ), held_in as materialized (
      select allowances.id, ${leftInWindow('$5')}
      from json_each_text(coalesce((select windows from ended), $7)::json) as named (id, begins_ms)
      join allowances on allowances.id = named.id::bigint
        and allowances.begins_ms = named.begins_ms::bigint
      where (select count(*) from key) >= 0
      order by allowances.id for no key update of allowances
    ), account as materialized (
      select balance_nano - held_nano as left_nano from accounts
      where id = $1 and (select count(*) from key) + (select count(*) from held_in) >= 0
      for no key update
    ), due as materialized (
      select greatest(0, least(
        $3::bigint,
        (select left_nano from account) + coalesce((select amount_nano from ended), 0),
        (select left_nano from key)
          + coalesce((select amount_nano from ended where key_id is not null), 0),
        (select min(greatest(left_nano, 0)) from held_in)
          + coalesce((select amount_nano from ended), 0)
      ))::bigint as nano
    ), entry as (
      insert into ledger (account_id, kind, reference, amount_nano, key_id, created_ms,
        uncollected_nano, ${CHARGE_NAMES})
      select $1, 'charge', $2, -nano, $4, $5::bigint, $3::bigint - nano + $6::bigint,
        ${parameters(columns_from, TYPES)}
      from due where true ${condition}
      on conflict (account_id, kind, reference) do nothing
      returning reference, amount_nano, uncollected_nano
    ), ${recording(recordsAt(columns_from))}, counted as (
      update keys set
        spent_nano = spent_nano - coalesce((select amount_nano from entry), 0),
        held_nano = held_nano
          - coalesce((select amount_nano from ended where key_id is not null), 0)
      where id = $4 and (select limit_nano from key) is not null
        and (exists (select from entry) or exists (select from ended))
      returning id
    ), counted_in_windows as (
      update allowances set
        spent_nano = spent_nano - coalesce((select amount_nano from entry), 0),
        held_nano = held_nano - coalesce((select amount_nano from ended), 0)
      from held_in where allowances.id = held_in.id
    ), paid as (
      update accounts set
        balance_nano = balance_nano + coalesce((select amount_nano from entry), 0),
        held_nano = held_nano - coalesce((select amount_nano from ended), 0)
      where id = $1 and (exists (select from entry) or exists (select from ended))
        and (select count(*) from counted) >= 0
    )
    select (select uncollected_nano from entry) as uncollected_nano`;

/** Keeps the answer, unless another call owns the key by now. */
const keeping = (values: string, free: boolean) => `
    insert into idempotency_keys
      (account_id, request_id, key_sha256, request_sha256, due_ms, status, answer, free)
    values (${values}, ${free})
    on conflict (account_id, key_sha256) do update set
      process_id = null, status = excluded.status, answer = excluded.answer,
      free = excluded.free
    where idempotency_keys.request_id = excluded.request_id
    returning request_id`;

const caller = `
    select keys.id as key_id, account_id, last_used_ms, expires_ms, models, suspended_ms,
      balance_nano <= accounts.held_nano as is_empty,
      keys.rates as key_rates, accounts.rates as account_rates
    from keys join accounts on accounts.id = account_id
    where revoked_ms is null`;

/**
 * The statements of the hot path on PostgreSQL, prepared by these names on each connection. All
 * lock rows in one order (idempotency keys, holds, keys, allowances, accounts), which excludes
 * deadlocks.
 */
export const SQL = {
  caller: `${caller} and secret_sha256 = $1`,
  // By the secret before the last rotation, until its overlap ends.
  callerBefore: `${caller} and previous_sha256 = $1 and previous_until_ms > $2::bigint`,
  touch: `
    update keys set last_used_ms = $2::bigint
    where id = $1 and coalesce(last_used_ms, -1) < $2::bigint`,
  hold: holding('$1, id, $4, $3::bigint', 'admitted'),
  holdAll: holding(
    'asked.request_id, id, $4, asked.amount_nano',
    'admitted, unnest($1::text[], $8::bigint[]) as asked (request_id, amount_nano)',
  ),
  figures: `
    select accounts.balance_nano, accounts.held_nano, suspended_ms,
      keys.id as key_id, keys.limit_nano,
      keys.spent_nano, keys.held_nano as key_held_nano, keys.revoked_ms, keys.expires_ms
    from accounts left join keys on keys.id = $2 where accounts.id = $1`,
  refused: `
    select revoked_ms is not null or coalesce(expires_ms <= $2::bigint, false) as ended
    from keys join accounts on accounts.id = account_id
    where keys.id = $1
      and (revoked_ms is not null or expires_ms <= $2::bigint or suspended_ms is not null)`,
  charge: charging({ columns_from: COLUMNS_FROM.charge, first: '', condition: '' }),
  chargeKept: `${charging({
    columns_from: COLUMNS_FROM.chargeKept,
    first: `kept as (${keeping(`$1, $2, ${KEPT}`, false)}),`,
    condition: 'and exists (select from kept)',
  })}, exists (select from kept) as kept`,
  // Charges of the account $1 and the key $4; returns those that were the first of their request.
  // Each has the money that its own hold set aside, and what it costs beyond that comes from what
  // all of them leave.
  chargeAll: `
    with asked as materialized (
      select distinct on (request_id) * from unnest($2::text[], $3::bigint[], $6::text[],
        ${parameters(
          COLUMNS_FROM.chargeAll,
          TYPES.map((type) => `${type}[]`),
        )})
        with ordinality as asked (request_id, due_nano, hold_windows, ${CHARGE_NAMES}, place)
      where not exists (select from ledger
        where account_id = $1 and kind = 'charge' and reference = asked.request_id)
      order by request_id, place
    ), ended as (
      delete from holds where request_id = any($2::text[]) and account_id = $1
      returning request_id, amount_nano, key_id, windows
    ), freed as materialized (
      select coalesce(sum(amount_nano), 0)::bigint as nano,
        coalesce(sum(amount_nano) filter (where key_id is not null), 0)::bigint as key_nano
      from ended
    ), key as materialized (
      select limit_nano, limit_nano - spent_nano - held_nano as left_nano from keys
      where id = $4 and (select nano from freed) >= 0
      for no key update
    ), named as materialized (
      select coalesce(ended.request_id, asked.request_id) as request_id, place,
        coalesce(ended.amount_nano, 0) as amount_nano,
        greatest(0, due_nano - coalesce(ended.amount_nano, 0)) as beyond_nano,
        each.id::bigint as id, each.begins_ms::bigint as begins_ms
      from ended full join asked on asked.request_id = ended.request_id
      cross join json_each_text(coalesce(windows, hold_windows)::json) as each (id, begins_ms)
    ), held_in as materialized (
      select id, begins_ms, ${leftInWindow('$5')} from allowances
      where (id, begins_ms) in (select id, begins_ms from named) and (select count(*) from key) >= 0
      order by id for no key update
    ), room as materialized (
      select request_id, min(nano) as nano from (
        select request_id, greatest(0, left_nano) - coalesce(sum(beyond_nano) over (
          partition by id order by place rows between unbounded preceding and 1 preceding), 0)
          as nano
        from named join held_in using (id, begins_ms)) as rooms
      group by request_id
    ), account as materialized (
      select balance_nano - held_nano as left_nano from accounts
      where id = $1 and (select count(*) from key) + (select count(*) from held_in) >= 0
      for no key update
    ), can as materialized (
      select least((select left_nano from account) + nano,
        (select left_nano from key) + key_nano) as nano
      from freed
    ), own as materialized (
      select asked.*, least(due_nano, coalesce(ended.amount_nano, 0)) as own_nano
      from asked left join ended on ended.request_id = asked.request_id
    ), due as materialized (
      select own.*, (
        greatest(0, least(own_nano, (select nano from can) - coalesce(sum(own_nano)
          over (order by place rows between unbounded preceding and 1 preceding), 0)))
        + greatest(0, least(due_nano - own_nano, room.nano, (select nano from can)
          - (select sum(own_nano) from own) - coalesce(sum(due_nano - own_nano)
          over (order by place rows between unbounded preceding and 1 preceding), 0)))
      )::bigint as nano
      from own left join room on room.request_id = own.request_id
    ), entry as (
      insert into ledger (account_id, kind, reference, amount_nano, key_id, created_ms,
        uncollected_nano, ${CHARGE_NAMES})
      select $1, 'charge', request_id, -nano, $4, $5::bigint, due_nano - nano, ${CHARGE_NAMES}
      from due
      on conflict (account_id, kind, reference) do nothing
      returning reference, amount_nano, uncollected_nano
    ), ${recording(recordsAt(COLUMNS_FROM.chargeAll))}, total as materialized (
      select coalesce((select -sum(amount_nano) from entry), 0)::bigint as spent_nano,
        freed.nano as freed_nano, freed.key_nano as key_freed_nano
      from freed
    ), counted as (
      update keys set spent_nano = keys.spent_nano + total.spent_nano,
        held_nano = keys.held_nano - total.key_freed_nano
      from total where keys.id = $4 and (select limit_nano from key) is not null
      returning keys.id
    ), counted_in_windows as (
      update allowances set spent_nano = allowances.spent_nano + ending.spent_nano,
        held_nano = allowances.held_nano - ending.freed_nano
      from (
        select id, begins_ms, coalesce(-sum(entry.amount_nano), 0)::bigint as spent_nano,
          sum(named.amount_nano)::bigint as freed_nano
        from named join held_in using (id, begins_ms)
        left join entry on entry.reference = request_id
        group by id, begins_ms) as ending
      where allowances.id = ending.id and allowances.begins_ms = ending.begins_ms
    ), paid as (
      update accounts set balance_nano = balance_nano - total.spent_nano,
        held_nano = held_nano - total.freed_nano
      from total where accounts.id = $1 and (select count(*) from counted) >= 0
    )
    select reference, uncollected_nano from entry`,
  release: `
    with ended as (
      delete from holds where request_id = $2 and account_id = $1
      returning amount_nano, key_id, windows
    ), counted as (
      update keys set held_nano = held_nano - (select amount_nano from ended)
      where id = (select key_id from ended)
      returning id
    ), held_in as materialized (
      select allowances.id
      from json_each_text((select windows from ended)::json) as named (id, begins_ms)
      join allowances on allowances.id = named.id::bigint
        and allowances.begins_ms = named.begins_ms::bigint
      where (select count(*) from counted) >= 0
      order by allowances.id for no key update of allowances
    ), counted_in_windows as (
      update allowances set held_nano = held_nano - (select amount_nano from ended)
      from held_in where allowances.id = held_in.id
    )
    update accounts set held_nano = held_nano - (select amount_nano from ended)
    where id = $1 and exists (select from ended)
      and (select count(*) from counted) + (select count(*) from held_in) >= 0`,
  allowances: `
    select ${ALLOWANCE_LIST} from allowances
    where (owner_kind = 'account' and owner_id = $1) or (owner_kind = 'key' and owner_id = $2)
    order by id`,
  heartbeat: `
    insert into processes (id, place, pid, started_ms, seen_ms, note, box)
    values ($1, $2, $3::bigint, $4::bigint, ${POSTGRES_CLOCK_MS}, $5, $6)
    on conflict (id) do update set seen_ms = excluded.seen_ms,
      note = coalesce(excluded.note, processes.note), box = coalesce(excluded.box, processes.box)`,
  leave: `
    delete from processes
    where id = $1 and not exists (select from holds where process_id = $1)`,
  ping: `select 1`,
  record: `
    insert into requests (${REQUEST_LIST})
    select ${REQUEST_LIST} from json_to_recordset($1::json) as record (${REQUEST_TYPES})
    on conflict (id) do nothing`,
  freshRecord: `
    select from request_roll_up
    where upto < (select max(seq) from requests)
      or ledger_id < (select max(id) from ledger)`,
  begin: `
    insert into idempotency_keys
      (account_id, key_sha256, request_sha256, request_id, process_id, due_ms)
    values ($1, $2, $3, $4, $5, $6::bigint)
    on conflict (account_id, key_sha256) do update set
      request_sha256 = excluded.request_sha256, request_id = excluded.request_id,
      process_id = excluded.process_id, due_ms = excluded.due_ms, status = null, answer = null
    where idempotency_keys.process_id is null and idempotency_keys.due_ms <= $7::bigint`,
  find: `
    select request_sha256, process_id, status, answer from idempotency_keys
    where account_id = $1 and key_sha256 = $2`,
  keep: keeping('$1, $2, $3, $4, $5::bigint, $6::integer, $7', true),
  forget: `
    delete from idempotency_keys
    where account_id = $1 and key_sha256 = $2 and request_id = $3 and process_id is not null`,
  // Counts the requests $5, with $6 tokens in all, in all of the counters $1 or in none. $7 is the
  // present minute; that of a counter never goes back. Returns the counts before.
  countRate: `
    with known as materialized (
      select counter, window_ms, requests, tokens, in_flight,
        window_ms between $7::bigint and $7::bigint + ${AHEAD_MS} as is_present
      from rates where counter = any($1::text[]) order by counter for no key update
    ), counts as materialized (
      select counter, max_requests, max_tokens, max_at_once, in_flight,
        case when is_present then window_ms else $7::bigint end as window_ms,
        case when is_present then requests else 0 end as requests,
        case when is_present then tokens else 0 end as tokens
      from known join unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
        as asked (counter, max_requests, max_tokens, max_at_once) using (counter)
    ), verdict as materialized (
      select count(*) = cardinality($1::text[]) and bool_and(
        coalesce(requests + cardinality($5::text[]) <= max_requests, true)
        and coalesce(tokens + $6::bigint <= max_tokens, true)
        and coalesce(in_flight + cardinality($5::text[]) <= max_at_once, true)) as admits
      from counts
    ), counted as (
      update rates set window_ms = counts.window_ms,
        requests = counts.requests + cardinality($5::text[]),
        tokens = counts.tokens + $6::bigint,
        in_flight = counts.in_flight
          + case when max_at_once is null then 0 else cardinality($5::text[]) end
      from counts, verdict where rates.counter = counts.counter and admits
    ), occupied as (
      insert into rate_slots (request_id, counter, process_id, created_ms)
      select request_id, counter, $8, $9::bigint
      from unnest($5::text[]) as request (request_id), counts, verdict
      where admits and max_at_once is not null
    )
    select counter, window_ms, requests, tokens, in_flight, admits from counts, verdict`,
  addRates: `
    insert into rates (counter, window_ms, requests, tokens, in_flight)
    select counter, $2::bigint, 0, 0, 0 from unnest($1::text[]) as asked (counter)
    order by counter
    on conflict (counter) do nothing`,
  // Ends the requests $1 of the counters $2, and adds $5 tokens to each counter $3 whose minute is
  // still $4.
  endRates: `
    with freed as (
      delete from rate_slots where request_id = any($1::text[]) returning counter
    ), corrected as materialized (
      select * from unnest($3::text[], $4::bigint[], $5::bigint[])
        as correction (counter, window_ms, tokens)
    ), known as materialized (
      select counter, window_ms from rates
      where counter = any($2::text[]) order by counter for no key update
    ), due as materialized (
      select counter,
        (select count(*) from freed where freed.counter = known.counter) as freed,
        coalesce((select sum(tokens) from corrected where corrected.counter = known.counter
          and corrected.window_ms = known.window_ms), 0)::bigint as tokens
      from known
    )
    update rates set in_flight = rates.in_flight - due.freed,
      tokens = greatest(0, rates.tokens + due.tokens)
    from due where rates.counter = due.counter`,
} as const;
