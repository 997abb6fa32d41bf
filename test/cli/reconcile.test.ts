import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reconciliation } from '../../src/reconcile/report.js';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';

const COLUMNS = ['--provider', 'simulator', '--columns', 'day=Day,model=Model,cost=USD'];

describe('tollgate reconcile', () => {
  let place: Place;
  before(async () => {
    // It asks no provider, so no key has to be set.
    const secret = 'providers: { simulator: {}, openai: { api_key: "${UNSET_KEY}" } }';
    place = await makePlace(SIMULATED.replace('providers: { simulator: {} }', secret));
    await place.customer('ann');
  });
  after(() => place.close());

  const bill = (text: string): Promise<void> =>
    writeFile(join(place.folder, 'bill.csv'), `Day,Model,USD\n${text}\n`);

  it('ends with status 1 beyond the tolerance, and says why', async () => {
    await bill('2026-10-01,simulator,1.00\n2026-10-02,other,0.25');
    const { status, stdout } = await place.tollgate('reconcile', 'bill.csv', ...COLUMNS);
    expect(status).to.equal(1);
    expect(stdout).to.include('"other", $0.25: no model has that name; --model "other=MODEL"');
    expect(stdout).to.include(
      'Beyond the tolerance of 1 %: $1.25 billed, $0.00 in the ledger, ' +
        'a difference of $1.25 (100 %).',
    );
  });

  it('matches a name by hand, narrows the days, and ends with 0 within the tolerance', async () => {
    await bill('2026-10-01,theirs,1.00\n2026-10-02,theirs,0.00');
    const args = ['reconcile', 'bill.csv', ...COLUMNS, '--model', 'theirs=mine'];
    const { status, stdout } = await place.tollgate(...args, '--from', '2026-10-02', '--days');
    expect(status).to.equal(0);
    expect(stdout).to.match(/^simulator, 2026-10-02 to 2026-10-02 \(columns\)\n/u);
    const told = await place.tollgate(...args, '--tolerance', '0.5%', '--json');
    expect(told.status).to.equal(1);
    const report = JSON.parse(told.stdout) as Reconciliation;
    expect(report).to.include({ tolerance_percent: 0.5, difference: '1.00', within: false });
    expect(report.models.map(({ model, causes }) => [model, causes[0]?.cause])).to.deep.equal([
      ['mine', 'calls_outside'],
    ]);
  });

  it('refuses options and files that it cannot use, in one sentence', async () => {
    await bill('2026-10-01,m,1.00');
    const fault = async (...args: string[]): Promise<string> => {
      const { status, stderr } = await place.tollgate('reconcile', 'bill.csv', ...args);
      expect(status).to.equal(1);
      return stderr;
    };
    expect(await fault(...COLUMNS, '--tolerance', 'some')).to.include('not "some"');
    expect(await fault(...COLUMNS, '--from', '1.10.2026')).to.include('"1.10.2026" is no day');
    expect(await fault(...COLUMNS, '--model', 'theirs')).to.include('takes THEIRS=OURS');
    expect(await fault('--columns', 'date=Day')).to.include('"date=Day" is not NAME=COLUMN');
    expect(await fault()).to.include('bill.csv:1:1: this is no export that is known');
    expect(await fault('--columns', 'day=Day,cost=USD')).to.include('name one with --provider');
    const later = [...COLUMNS, '--from', '2026-12-01'];
    expect(await fault(...later)).to.include('no usage of models within');
    expect(await fault(...later, '--to', '2026-12-31')).to.include('no usage of models within');
  });
});
