import type { Ground } from './ground.js';

/** The tables in which knex counts migrations: it makes them, not a migration. */
const OF_KNEX = /^\w+ migrations(_lock)?(_\w+)?[ .:]/u;

const SQLITE = `select
  case type when 'table' then 'table ' || name || ': ' || sql else sql end as line from sqlite_master
  where sql is not null and name not like 'sqlite_%'`;

/** `current_schema()` is the one that the test made. Not-null constraints are in the columns. */
const POSTGRES = `
  select 'table ' || table_name || ': ' || column_name || ' ' || data_type
    || coalesce(' collate ' || collation_name, '')
    || case is_nullable when 'NO' then ' not null' else '' end
    || coalesce(' default ' || column_default, '') as line
  from information_schema.columns where table_schema = current_schema()
  union all
  select indexdef
  from pg_indexes where schemaname = current_schema() and indexname not in
    (select conname from pg_constraint where connamespace = current_schema()::regnamespace)
  union all
  select 'constraint ' || conrelid::regclass || ': ' || conname || ' ' || pg_get_constraintdef(oid)
  from pg_constraint
  where connamespace = current_schema()::regnamespace and contype <> 'n' and conrelid <> 0
  union all
  select 'sequence ' || sequencename || ': start ' || start_value || ' by ' || increment_by
  from pg_sequences where schemaname = current_schema()
  union all
  select pg_get_triggerdef(oid)
  from pg_trigger
  where not tgisinternal
    and tgrelid in (select oid from pg_class where relnamespace = current_schema()::regnamespace)
  union all
  select 'function ' || proname || ': ' || prosrc
  from pg_proc where pronamespace = current_schema()::regnamespace`;

/** All that a database consists of: a sorted line for each column, index, constraint and so on. */
export async function describeSchema({
  dialect,
  sql,
}: Pick<Ground['place'], 'dialect' | 'sql'>): Promise<string[]> {
  const rows = await sql(dialect === 'sqlite' ? SQLITE : POSTGRES);
  return rows
    .map(({ line }) => onOneLine(String(line)).replaceAll(/["`]|\btollgate_[0-9a-f]{32}\./gu, ''))
    .filter((line) => !OF_KNEX.test(line))
    .flatMap((line) => (/^table \w+: create table/iu.test(line) ? columnsOf(line) : [line]))
    .sort();
}

export function onOneLine(sql: string): string {
  return sql.replaceAll(/\s+/gu, ' ').trim();
}

/** A line for each column and constraint in the `create table` of SQLite. */
function columnsOf(line: string): string[] {
  const [name = ''] = line.split(':');
  const open = line.indexOf('(');
  const close = line.lastIndexOf(')');
  const parts: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = from; at <= close; at++) {
    if ((line[at] === ',' && depth === 0) || at === close) {
      parts.push(`${name}: ${line.slice(from, at).trim()}`);
      from = at + 1;
    }
    if (line[at] === '(') depth++;
    if (line[at] === ')') depth--;
  }
  const options = line.slice(close + 1).trim();
  return options ? [...parts, `${name}: ${options}`] : parts;
}
