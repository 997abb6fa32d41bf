import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MIGRATIONS } from '../../src/store/migrations.js';
import { openSqliteFile } from '../../src/store/sqlite/sqlite-driver.js';
import { eventually, makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import type { RunningCommand } from '../helpers/run-command.js';
import { workersOf, lives } from './helpers/processes.js';

const FAULT = 'a program that serves it must know its migration 999';
const LAST = MIGRATIONS.at(-1);
/** The commands that serve end with it once they are too old. */
const OUTDATED = 3;

/** Lets only newer programs serve the store of a place. */
function outdate({ folder }: Place): void {
  const database = openSqliteFile(join(folder, 'data', 'tollgate.db'), { timeout: 10_000 });
  database.exec(`update store_contract set lowest = 999;
    insert into migrations (name, batch) values ('999-later', 2)`);
  database.close();
}

async function isUnready(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`);
  return answer.status === 503 && (await answer.text()).includes(FAULT);
}

describe('tollgate migrate', () => {
  let place: Place;
  before(async () => (place = await makePlace(SIMULATED)));
  after(() => place.close());

  it('says before what each migration does, and then changes nothing and makes no file', async () => {
    const { stdout } = await place.tollgate('migrate', '--dry-run');
    const [head, first] = stdout.split('\n');
    expect(head).to.match(/^migration +kind +calls$/u);
    expect(first).to.match(/^001-accounts +expands +wait for a moment$/u);
    expect(stdout).to.match(/\n026-contract +contracts +wait for a moment\n/u);
    expect(stdout).to.match(/\nNothing was changed\.\n$/u);
    const said = await place.json<{ pending: object[] }>('migrate', '--dry-run');
    expect(said.pending).to.have.length(MIGRATIONS.length);
    expect(said).to.deep.include({ applied: [] });
    const last = said.pending.at(-1);
    expect(said.pending[25]).to.deep.equal({
      name: '026-contract',
      kind: 'contracts',
      lowest: 26,
      effect: 'quick',
    });
    expect(last).to.deep.include({ name: LAST?.name, kind: LAST?.kind, effect: LAST?.effect });
    expect(existsSync(join(place.folder, 'data'))).to.equal(false);
  });

  it('does it, and then has nothing left to do', async () => {
    const { stdout } = await place.tollgate('migrate');
    expect(stdout).to.contain(`Applied ${MIGRATIONS.map(({ name }) => name).join(', ')}.\n`);
    for (const options of [[], ['--dry-run']]) {
      const again = await place.tollgate('migrate', ...options);
      expect(again).to.deep.include({ stdout: 'The store is up to date.\n', status: 0 });
      const said = await place.json('migrate', ...options);
      expect(said).to.deep.equal({ applied: [], pending: [] });
    }
  });
});

describe('tollgate serve on a store that a newer version contracts', () => {
  let place: Place;
  afterEach(() => place.close());

  async function expectDrain(serving: RunningCommand): Promise<void> {
    const url = await serving.url();
    outdate(place);
    await eventually('it is not ready', () => isUnready(url));
    const { status, stderr } = await serving.ended;
    expect(status).to.equal(OUTDATED);
    expect(stderr).to.contain(FAULT).and.to.contain('running answers finish');
  }

  it('says so, is not ready, drains, ends, and does not start again', async () => {
    place = await makePlace(`drain_delay: 500ms\n${SIMULATED}`);
    await place.customer('ann');
    await expectDrain(place.begin('serve'));
    for (const command of ['serve', 'verify', 'migrate']) {
      const { status, stderr } = await place.tollgate(command);
      expect(status, command).to.equal(1);
      expect(stderr, command).to.match(/^tollgate: the store is of a newer version .*\n$/u);
    }
  });

  it('ends all workers, and replaces none', async function () {
    if (process.platform !== 'linux') this.skip();
    place = await makePlace(`drain_delay: 2s\n${SIMULATED}`);
    await place.customer('ann');
    const serving = place.start('serve', '--workers', '2');
    await serving.url();
    const workers = await workersOf(serving);
    await expectDrain(serving);
    expect(serving.stderr).not.to.contain('another one takes its place');
    expect(workers.some(lives)).to.equal(false);
  });
});
