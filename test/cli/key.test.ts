import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ask, chat, errorOf } from '../helpers/ask.js';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';

const MORE = `  other: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: { input_per_million: 1, output_per_million: 1 } }
`;

describe('the terms of a key on the command line, beside a running gateway', () => {
  let place: Place;
  let url: string;

  before(async () => {
    place = await makePlace(SIMULATED + MORE);
    url = await place.begin('serve').url();
    await place.json('account', 'create', 'ann', '--credit', '1');
  });
  after(() => place.close());

  it('apply at once, and are listed with the spend', async () => {
    const terms = ['--expires', '30d', '--limit', '0.005', '--model', 'sim'];
    const key = ['key', 'create', 'ann', '--name', 'pocket', ...terms];
    const { secret } = await place.json<{ secret: string }>(...key);
    const at = { url, secret };
    const messages = [{ role: 'user', content: 'Hello!' }];
    expect((await chat(at, { model: 'sim', messages, max_tokens: 9 })).status).to.equal(200);
    const other = await chat(at, { model: 'other', messages });
    expect(errorOf(other).code).to.equal('model_not_allowed');
    const dear = await chat(at, { model: 'sim', messages, max_tokens: 9_000 });
    expect(errorOf(dear).code).to.equal('key_limit_reached');
    expect((await ask(at, '/v1/models')).text)
      .to.include('"sim"')
      .and.not.include('"other"');

    const [listed] = await place.json<Record<string, unknown>[]>('key', 'list', 'ann');
    expect(listed).to.deep.include({ name: 'pocket', models: ['sim'], limit: '0.005' });
    expect(Date.parse(String(listed?.expires)) - Date.now()).to.be.within(
      29 * 86_400_000,
      30 * 86_400_000,
    );
    const [charge] = (await place.json<{ kind: string; amount: string }[]>('ledger', 'ann')).filter(
      ({ kind }) => kind === 'charge',
    );
    expect(listed?.spent).to.equal(charge?.amount.slice(1));
    expect(await place.json('verify')).to.deep.include({ faults: [] });
  });

  it('may name a model that only an included file has', async () => {
    await place.write(`include: ['models/*.yaml']\n${SIMULATED}${MORE}`);
    await mkdir(join(place.folder, 'models'));
    const included = `models:\n${MORE.replace('other:', 'lab-ok:')}`;
    await writeFile(join(place.folder, 'models/lab.yaml'), included);
    const name = ['key', 'create', 'ann', '--name', 'lab'];
    const { stdout, stderr } = await place.tollgate(...name, '--model', 'lab-ok');
    expect(stderr).to.equal('');
    expect(stdout).to.match(/\nIt may use lab-ok alone\.\n$/u);
    const unknown = await place.tollgate(...name, '--model', 'lab-okk');
    expect(unknown.stderr).to.include('did you mean "lab-ok"?');
    const offered = await place.json('completion', '--list', 'models');
    expect(offered).to.deep.equal(['sim', 'other', 'lab-ok']);
  });

  it('are edited, where the word none takes one away', async () => {
    const create = ['key', 'create', 'ann', '--name', 'agent', '--allowance', 'day=5.00'];
    const rates = ['--requests-per-minute', '60', '--concurrent-requests', '8'];
    const { id } = await place.json<{ id: string }>(...create, ...rates, '--limit', '9');
    const change = ['--name', 'robot', '--allowance', 'day=none', '--allowance', '5h=1.00'];
    const more = ['--requests-per-minute', 'none', '--limit', 'none', '--expires', '30d'];
    const edited = await place.json('key', 'edit', id, ...change, ...more, '--model', 'sim');
    const allowance = { window: '5h', amount: '1.00', spent: '0.00', held: '0.00', left: '1.00' };
    expect(edited).to.deep.include({
      id,
      name: 'robot',
      models: ['sim'],
      limit: null,
      rates: { concurrent_requests: 8 },
      allowances: [{ ...allowance, returns: null, raised: null }],
    });
    const raise = ['--raise', '5h=10.00', '--until', '12h'];
    const { stdout } = await place.tollgate('key', 'edit', id, ...raise, '--expires', 'none');
    expect(stdout).to.match(
      /(robot).* terms from now on\.\nIt may use sim alone\.\nIt may spend \$1\.00 in 5h \(and \$10\.00 more until .*Z\)\.\nIt may have 8 requests at once\.\n$/u,
    );
    const table = (await place.tollgate('key', 'list', 'ann')).stdout;
    expect(table).to.match(/robot .* concurrent requests 8 +5h: 11\.00 of 11\.00 left$/mu);
    const audit = await place.json<{ action: string; after: object }[]>('audit', '--limit', '2');
    expect(audit.map(({ action }) => action)).to.include('key.edit');
  });

  it('are refused with a sentence and the right word where they allow nothing', async () => {
    const { id } = await place.json<{ id: string }>('key', 'create', 'ann', '--name', 'odd');
    const faults: [string[], string][] = [
      [['--allowance', 'fortnight=5'], '"fortnight" is no window'],
      [['--allowance', 'fortnight=5'], 'write day, week, month, or a duration'],
      [['--allowance', 'day=5', '--allowance', '24h=5'], 'day and 24h have one length'],
      [['--allowance', 'week=5', '--allowance', '7d=5'], 'week and 7d have one length'],
      [['--allowance', 'day=5', '--limit', '4'], 'is above the 4.00 that the key may spend'],
      [['--allowance', 'day=0'], 'must be above zero'],
      [['--allowance', '5'], 'such as day=5.00'],
      [['--allowance', 'day=much'], 'is not an amount'],
      [['--requests-per-minute', '0'], '"0" is not a rate: write a whole number above zero'],
      [['--tokens-per-minute', '1.5'], '"1.5" is not a rate'],
    ];
    for (const [options, message] of faults) {
      for (const command of [
        ['key', 'create', 'ann', '--name', 'x'],
        ['key', 'edit', id],
      ]) {
        const { status, stderr } = await place.tollgate(...command, ...options);
        expect([status, stderr.includes(message)], `${options.join(' ')}: ${stderr}`).to.deep.equal(
          [1, true],
        );
      }
    }
    const raises: [string[], string][] = [
      [['--raise', 'day=1', '--until', '12h'], 'no allowance a day to increase: it has none'],
      [['--raise', 'day=1'], 'must say when it ends'],
      [['--until', '12h'], 'must name the window'],
      [['--raise', 'day=1', '--until', '2020-01-01T00:00Z'], 'must be later than now'],
      [['--raise', 'day=1', '--until', 'soon'], 'must be a time such as'],
    ];
    for (const [options, message] of raises) {
      expect((await place.tollgate('key', 'edit', id, ...options)).stderr).to.include(message);
    }
  });

  it('stay when the key is rotated: both secrets work until the overlap ends', async () => {
    const create = ['key', 'create', 'ann', '--name', 'old', '--model', 'sim'];
    const old = await place.json<{ id: string; secret: string }>(...create);
    const made = await place.json<object>('key', 'rotate', old.id, '--overlap', '24h');
    expect(Object.keys(made)).to.deep.equal(['id', 'secret']);
    const { secret } = made as { secret: string };
    expect(secret).not.to.equal(old.secret);
    const status = async (one: string) => (await ask({ url, secret: one }, '/v1/models')).status;
    expect([await status(secret), await status(old.secret)]).to.deep.equal([200, 200]);
    const again = await place.tollgate('key', 'rotate', old.id);
    expect(again.stdout).to.match(
      /^Rotated key_\w+ \(old\)\..*\ntg-\w+\nThe old secret is refused/u,
    );
    expect([await status(secret), await status(old.secret)]).to.deep.equal([401, 401]);
    const unknown = await place.tollgate('key', 'rotate', 'key_none');
    expect(unknown.stderr).to.include('"tollgate key list ACCOUNT" shows them');
  });

  it('share the limits of their account, which are edited beside them', async () => {
    const limits = ['--allowance', 'month=60.00', '--tokens-per-minute', '1000'];
    const account = await place.json('account', 'edit', 'ann', ...limits);
    expect(account).to.deep.include({ name: 'ann', rates: { tokens_per_minute: 1000 } });
    expect(account).to.have.nested.property('allowances[0].amount', '60.00');
    const none = ['--allowance', 'month=none', '--tokens-per-minute', 'none'];
    const { stdout } = await place.tollgate('account', 'edit', 'ann', ...none);
    expect(stdout).to.equal('The account ann has these limits from now on.\n');
  });

  it('are printed as text, and so is their absence', async () => {
    const models = ['--model', 'sim', '--model', 'other'];
    const name = ['key', 'create', 'ann', '--name', 'both'];
    const { stdout } = await place.tollgate(...name, ...models, '--limit', '5');
    expect(stdout).to.match(/\nIt may use sim, other alone\.\nIt may spend \$5\.00 in all\.\n$/u);
    await place.tollgate('key', 'create', 'ann', '--name', 'free');
    const table = (await place.tollgate('key', 'list', 'ann')).stdout.split('\n');
    expect(table[0]).to.match(/ expires +revoked +models +limit +spent +rates +allowances$/u);
    expect(table.find((line) => line.includes(' both '))).to.match(
      / sim, other +5\.00 +0\.00 +- +-$/u,
    );
    expect(table.find((line) => line.includes(' free '))).to.match(/ - +- +- +- +- +-$/u);
  });
});
