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

  it('are printed as text, and so is their absence', async () => {
    const models = ['--model', 'sim', '--model', 'other'];
    const name = ['key', 'create', 'ann', '--name', 'both'];
    const { stdout } = await place.tollgate(...name, ...models, '--limit', '5');
    expect(stdout).to.match(/\nIt may use sim, other alone\.\nIt may spend \$5\.00 in all\.\n$/u);
    await place.tollgate('key', 'create', 'ann', '--name', 'free');
    const table = (await place.tollgate('key', 'list', 'ann')).stdout.split('\n');
    expect(table[0]).to.match(/ expires +revoked +models +limit +spent$/u);
    expect(table.find((line) => line.includes(' both '))).to.match(/ sim, other +5\.00 +0\.00$/u);
    expect(table.find((line) => line.includes(' free '))).to.match(/ - +- +- +-$/u);
  });
});
