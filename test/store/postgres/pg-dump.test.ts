import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { placeOfStore } from '../../../src/core/store-place.js';
import { openStore } from '../../../src/store/open.js';
import { backupStore } from '../../../src/store/backup.js';
import { pgDumpCommand } from '../../../src/store/postgres/pg-dump.js';
import { chargeOf, dollars, refusal } from '../helpers/ground.js';

const STORE = 'postgres://tollgate:hunter2@db.internal:5433/gate';

const POSTGRES = process.env.TOLLGATE_TEST_POSTGRES;

describe('the backup of a store in PostgreSQL', () => {
  it('is the business of pg_dump, whose command it names without the password', async () => {
    expect(await refusal(backupStore(STORE, 'monday.dump'))).to.equal(
      'StoreError: The store is PostgreSQL, which its own tool backs up: pg_dump --format=custom ' +
        '--file=monday.dump --no-owner --dbname=postgres://tollgate@db.internal:5433/gate',
    );
  });

  it('keeps the options of the URL, and quotes what a shell would read', () => {
    const command = pgDumpCommand(
      placeOfStore(`${STORE}?password=hunter2&sslmode=require`),
      "ann's.dump",
    );
    expect(command).to.equal(
      `pg_dump --format=custom --file='ann'\\''s.dump' ` +
        `--no-owner --dbname='postgres://tollgate@db.internal:5433/gate?sslmode=require'`,
    );
  });

  it('goes past a pooler, and proves the server', () => {
    const session_url = 'postgres://tollgate@db.internal/gate?sslmode=require';
    const place = { ...placeOfStore(STORE), session_url, ca: '/etc/ca.pem' };
    expect(pgDumpCommand(place, 'a')).to.match(
      /--dbname='postgres:\/\/tollgate@db\.internal\/gate\?sslmode=verify-full&sslrootcert=%2Fetc%2Fca\.pem'$/u,
    );
  });

  it('is restored from the file that this command makes', async function () {
    if (!POSTGRES || spawnSync('pg_dump', ['--version']).error) this.skip();
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-dump-'));
    const [from, to] = [await makeDatabase(POSTGRES), await makeDatabase(POSTGRES)];
    const store = await openStore(from.url, { now: Date.now });
    const { id } = await store.createAccount('ann', dollars(10));
    await store.hold('r1', id, dollars(2));
    await store.charge(chargeOf('r1', id, dollars(1)));
    const { password } = new URL(POSTGRES);
    const env = { ...process.env, PGPASSWORD: decodeURIComponent(password) };
    const file = join(folder, 'monday.dump');
    const dumped = spawnSync('sh', ['-c', pgDumpCommand(placeOfStore(from.url), file)], { env });
    expect(dumped.status, String(dumped.stderr)).to.equal(0);
    await store.credit(id, dollars(5), 'later');

    const options = ['--clean', '--if-exists', '--no-owner', `--dbname=${to.url}`, file];
    const restored = spawnSync('pg_restore', options, { env });
    expect(restored.status, String(restored.stderr)).to.equal(0);
    const other = await openStore(to.url, { now: Date.now });
    expect(await other.account('ann')).to.include({ balance_nano: dollars(9), held_nano: 0n });
    expect(await other.verify()).to.deep.include({ accounts: 1, entries: 2, faults: [] });

    await other.close();
    await store.close();
    await from.drop();
    await to.drop();
    rmSync(folder, { recursive: true });
  });
});

/** A database to itself: a dump is of a whole one. */
async function makeDatabase(base: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `tollgate_${randomUUID().replaceAll('-', '')}`;
  await query(base, `create database ${name}`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => query(base, `drop database ${name}`) };
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text).finally(() => client.end());
}
