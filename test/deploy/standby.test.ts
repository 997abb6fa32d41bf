import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openStore } from '../../src/store/open.js';
import { freePort } from '../helpers/free-port.js';
import { postgresProgram } from '../store/helpers/cluster.js';

const SCRIPTS = fileURLToPath(new URL('../../deploy/postgres/', import.meta.url));
const PASSWORD = 'c0ffee';
/** As in the image of PostgreSQL, apart from the address. */
const SERVER = `#!/usr/bin/env bash
exec pg_ctl -D "$PGDATA" -w -s -l "$PGDATA.log" \\
  -o "-p $PORT -k $FOLDER -c listen_addresses=127.0.0.1 -c fsync=off" start
`;

describe('deploy/postgres', function () {
  if (!process.env.TOLLGATE_TEST_POSTGRES) {
    it.skip('needs PostgreSQL');
    return;
  }
  let folder: string;
  let ports: number[];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-standby-'));
    ports = [await freePort(), await freePort()];
    writeFileSync(join(folder, 'docker-entrypoint.sh'), SERVER);
    chmodSync(join(folder, 'docker-entrypoint.sh'), 0o755);
    writeFileSync(join(folder, 'password'), PASSWORD);
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'postgres', folder]);
  });

  after(() => {
    for (const name of ['primary', 'standby']) {
      const data = join(folder, name);
      spawnSync(...asPostgres(['pg_ctl', '-D', data, '-w', '-s', '-m', 'immediate', 'stop']));
    }
    rmSync(folder, { recursive: true, force: true });
  });

  /** PostgreSQL refuses to run as root. */
  function asPostgres(command: string[]): [string, string[], object] {
    const [program = '', ...args] =
      process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--', ...command] : command;
    const path = [folder, dirname(postgresProgram('initdb')), process.env.PATH].join(delimiter);
    return [program, args, { env: { ...process.env, PATH: path }, cwd: '/', stdio: 'ignore' }];
  }

  function run(name: string, at: number, command: string[]): void {
    const primary = { PRIMARY_HOST: '127.0.0.1', PRIMARY_USER: 'tollgate', PGPASSWORD: PASSWORD };
    const there = { PGDATA: join(folder, name), PORT: `${ports[at]}`, FOLDER: folder };
    const here = { PGHOST: folder, PGPORT: `${ports[0]}` };
    const database = { POSTGRES_USER: 'tollgate', POSTGRES_DB: 'postgres' };
    const given = Object.entries({ ...primary, ...there, ...here, ...database });
    const settings = given.map(([key, text]) => `${key}=${text}`);
    execFileSync(...asPostgres(['env', ...settings, ...command]));
  }

  it('makes a standby that has each charge when the primary is gone, and takes its place', async () => {
    const data = join(folder, 'primary');
    const password = `--pwfile=${join(folder, 'password')}`;
    const secure = ['--auth=scram-sha-256', '--username=tollgate', password, '--no-sync'];
    run('primary', 0, ['initdb', '-D', data, ...secure]);
    run('primary', 0, ['docker-entrypoint.sh']);
    run('primary', 0, [join(SCRIPTS, 'primary.sh')]);
    run('primary', 0, ['pg_ctl', '-D', data, '-w', '-s', 'stop']);
    run('primary', 0, ['docker-entrypoint.sh']);
    run('standby', 1, [join(SCRIPTS, 'standby.sh')]);
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
    const url = `postgres://tollgate:${PASSWORD}@${hosts}/postgres?target_session_attrs=read-write`;
    const store = await openStore(url, { now: Date.now });
    await store.createAccount('ann', 5n);
    await store.close();
    run('primary', 0, ['pg_ctl', '-D', data, '-w', '-s', '-m', 'immediate', 'stop']);
    run('standby', 1, ['pg_ctl', '-D', join(folder, 'standby'), '-w', '-s', 'promote']);
    const after = await openStore(url, { now: Date.now });
    const found = await after.account('ann');
    await after.credit(found?.id ?? '', 2n, 'more', {
      kind: 'cli',
      id: 'ann',
      name: null,
      request_id: null,
    });
    expect(await after.account('ann')).to.include({ balance_nano: 7n });
    await after.close();
  });
});
