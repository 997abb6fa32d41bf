import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteFile } from '../../src/store/sqlite/sqlite-driver.js';
import { makeSecret, sha256 } from '../../src/store/keys/secret.js';
import { ask, chat, completionOf } from '../helpers/ask.js';
import { eventually, makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import type { VideoResult } from '../helpers/video-client.js';
import { until } from '../helpers/until.js';
import { migrateTo } from '../store/helpers/old-store.js';

const STUDIO = `${SIMULATED}  film: { owner: me, capabilities: [video], upstreams: [{ provider: simulator }], price: { per_video_second: { 720p: { silent: 0.02, audio: 0.04 } } } }
`;
const CALL = { model: 'sim', messages: [{ role: 'user', content: 'Hello!' }] };
const CALLERS = 6;

interface Entry {
  id: number;
  kind: string;
  amount: string;
  reference: string;
}

interface Report {
  file: string;
  accounts: number;
  entries: number;
  journal: { folder: string; charges: number };
}

type At = Parameters<typeof ask>[0];

describe('tollgate backup', () => {
  let place: Place;

  beforeEach(async () => {
    place = await makePlace(STUDIO);
  });
  afterEach(() => place.close());

  const ledger = (): Promise<Entry[]> => place.json<Entry[]>('ledger', 'ann');

  /** As the page on operating says it: with nothing running, and without the old log. */
  async function restore(file: string): Promise<void> {
    const live = join(place.folder, 'data', 'tollgate.db');
    for (const end of ['-wal', '-shm']) await rm(live + end, { force: true });
    await copyFile(join(place.folder, file), live);
  }

  async function result(at: At, id: string): Promise<VideoResult> {
    const { status, text } = await ask(at, `/v1/queue/film/requests/${id}`);
    expect(status, text).to.equal(200);
    return JSON.parse(text) as VideoResult;
  }

  it('is restored after calls that it was made under: books, keys and tasks go on', async () => {
    const { secret } = await place.customer('ann', '10');
    const serving = place.begin('serve');
    const at = { url: await serving.url(), secret };
    const submitted = await ask(at, '/v1/queue/film', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'a kite', parameters: { duration_seconds: 2 } }),
    });
    expect(submitted.status, submitted.text).to.equal(202);
    const { request_id } = JSON.parse(submitted.text) as VideoResult;
    completionOf(await chat(at, CALL));

    let isOver = false;
    let calls = 0;
    const callers = Array.from({ length: CALLERS }, async () => {
      for (; !isOver; calls++) completionOf(await chat(at, CALL));
    });
    const report = await place.json<Report>('backup', 'monday.db');
    const during = calls;
    await until(() => calls > during + CALLERS, 'calls come after it');
    isOver = true;
    await Promise.all(callers);
    expect(await serving.stop()).to.include({ status: 0 });

    const all = await ledger();
    expect(report.entries).to.be.within(2, all.length - 1);
    expect(report).to.deep.include({ accounts: 1, file: join(place.folder, 'monday.db') });
    await restore('monday.db');
    expect(await ledger()).to.deep.equal(all.slice(0, report.entries));
    expect(await place.json('verify')).to.deep.include({ accounts: 1, faults: [] });

    const again = { url: await place.begin('serve').url(), secret };
    completionOf(await chat(again, CALL));
    await eventually('the task that it holds is done', async () => {
      return (await result(again, request_id)).status === 'COMPLETED';
    });
    await result(again, request_id);
    const charges = (await ledger()).filter(({ reference }) => reference === request_id);
    expect(charges.map(({ amount }) => amount)).to.deep.equal(['-0.08']);
    expect(await place.json('verify')).to.deep.include({ faults: [] });
  });

  it('takes an older store back from an upgrade: backed up, migrated, served, restored', async () => {
    const live = join(place.folder, 'data', 'tollgate.db');
    const secret = makeSecret();
    await migrateTo({ dialect: 'sqlite', url: `sqlite:${live}` }, '003-pictures');
    const old = openSqliteFile(live);
    old.exec(`insert into accounts values ('acc_1', 'ann', 1000000000, 0, 1);
      insert into keys values ('key_1', 'acc_1', 'k', 'tg-', '${sha256(secret)}', 1, null, null);
      insert into ledger (account_id, kind, reference, amount_nano, estimated, created_ms)
        values ('acc_1', 'credit', 'c', 1000000000, false, 1)`);
    old.close();
    const migrations = (): unknown[] => {
      const database = openSqliteFile(live, { readonly: true });
      const names = database.prepare('select name from migrations').pluck().all();
      database.close();
      return names;
    };

    expect(await place.json('backup', 'before.db')).to.include({ accounts: 1, entries: 1 });
    expect(migrations(), 'a backup migrates nothing').to.have.length(3);
    const { applied } = await place.json<{ applied: string[] }>('migrate');
    expect(applied[0]).to.equal('004-people');
    const serving = place.begin('serve');
    completionOf(await chat({ url: await serving.url(), secret }, CALL));
    expect(await serving.stop()).to.include({ status: 0 });
    expect(await ledger()).to.have.length(2);

    await restore('before.db');
    expect(migrations(), 'the older version finds its store').to.have.length(3);
    const once_more = place.begin('serve');
    completionOf(await chat({ url: await once_more.url(), secret }, CALL));
    expect(await ledger()).to.have.length(2);
    expect(await place.json('verify')).to.deep.include({ entries: 2, faults: [] });
  });

  it('says in one sentence why there is none, with status 1', async () => {
    const none = await place.tollgate('backup', 'monday.db');
    expect(none).to.include({ status: 1, stdout: '' });
    expect(none.stderr).to.match(
      /^tollgate: there is no store yet: \S+ is not there; "tollgate serve" makes one, /u,
    );
    await place.json('account', 'create', 'ann');
    const itself = await place.tollgate('backup', 'data/tollgate.db', '--force');
    expect(itself).to.include({ status: 1, stdout: '' });
    expect(itself.stderr).to.include('belongs to the store itself');
    await place.write(STUDIO.replace('sqlite:data/tollgate.db', 'postgres://me:hunter2@db/gate'));
    const postgres = await place.tollgate('backup', 'monday.dump');
    expect(postgres).to.include({ status: 1, stdout: '' });
    expect(postgres.stderr)
      .to.include('pg_dump --format=custom --file=monday.dump --no-owner --dbname=postgres://me@db')
      .and.not.include('hunter2');
  });

  it('tells of charges in the journal, which it does not hold', async () => {
    await place.json('account', 'create', 'ann');
    const { Journal } = await import('../../src/store/journal/journal.js');
    const { chargeOf } = await import('../store/helpers/ground.js');
    const folder = join(place.folder, 'data', 'journal');
    const journal = new Journal(folder, 1024 ** 2);
    await journal.append({ charge: chargeOf('r1', 'acc_1', 5n) });
    expect(await place.json<Report>('backup', 'one.db')).to.deep.include({
      journal: { folder, charges: 1 },
    });
    const { stdout } = await place.tollgate('backup', 'two.db');
    expect(stdout).to.match(/holds 1 account, 0 ledger entries, 0 open holds in \d+ bytes\./u);
    expect(stdout).to.include(`1 charge waits in the journal`).and.include(folder);
    await journal.close(true);
  });
});
