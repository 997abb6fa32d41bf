import type { Ground } from './ground.js';

const TABLES = [
  'accounts',
  'keys',
  'allowances',
  'holds',
  'ledger',
  'processes',
  'tasks',
  'identities',
  'management_tokens',
  'audit',
  'idempotency_keys',
];
const OPERATIONS = ['insert', 'update', 'delete'];

/** Makes the nth write to any table from now on fail, and not the ones after it. */
export async function fuse({ place }: Ground, nth: number): Promise<void> {
  if (place.dialect === 'postgres') {
    await place.sql(`create sequence fuse;
      create function blow() returns trigger as $$ begin
        if nextval('fuse') = ${nth} then raise exception 'blown fuse'; end if;
        if tg_op = 'DELETE' then return old; end if;
        return new;
      end $$ language plpgsql`);
  } else {
    await place.sql(`create table fuse (writes integer); insert into fuse values (${nth})`);
  }
  for (const table of TABLES) {
    for (const operation of OPERATIONS) {
      const trigger = `create trigger fuse_${table}_${operation} before ${operation} on ${table}`;
      await place.sql(
        place.dialect === 'postgres'
          ? `${trigger} for each row execute function blow()`
          : `${trigger} begin
               update fuse set writes = writes - 1;
               select raise(abort, 'blown fuse') from fuse where writes = 0;
             end`,
      );
    }
  }
}

/** Takes away what `fuse` has laid. */
export async function unfuse({ place }: Ground): Promise<void> {
  if (place.dialect === 'postgres')
    await place.sql('drop function blow cascade; drop sequence fuse');
  for (const table of place.dialect === 'postgres' ? [] : TABLES) {
    for (const operation of OPERATIONS) await place.sql(`drop trigger fuse_${table}_${operation}`);
  }
  if (place.dialect === 'sqlite') await place.sql('drop table fuse');
}
