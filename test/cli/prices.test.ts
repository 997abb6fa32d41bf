import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { check } from '../../src/gateway/check.js';
import type { PriceUpdate } from '../../src/gateway/price-update.js';
import { makePlace, type Place } from '../helpers/cli.js';

const YAML = `owners: { us: { name: Us } }
providers:
  openai: { api_key: k }
  anthropic: { api_key: k }
models:
  small: { owner: us, capabilities: [chat], upstreams: [{ provider: openai, model: gpt-4o-mini }], price: list }
  large: { owner: us, capabilities: [chat], upstreams: [{ provider: openai, model: gpt-4o }], price: list }
  own: { owner: us, capabilities: [chat], upstreams: [{ provider: openai, model: gpt-4.1 }], price: { input_per_million: 3.00, output_per_million: 8.00 } }
`;
const NEXT = `${YAML}  next: { owner: us, capabilities: [chat], upstreams: [{ provider: openai, model: gpt-99 }], price: list }\n`;

const catalogue = (small: number, large: number): string => {
  const of = (input: number, output: number) => ({ cost: { input, output } });
  const models = { 'gpt-4o-mini': of(small, 4), 'gpt-4o': of(large, 10), 'gpt-99': of(9, 99) };
  return JSON.stringify({ openai: { models }, acme: { models: { m: of(1, 1) } } });
};

describe('tollgate prices update', () => {
  let place: Place;
  const list = (): Promise<string> => readFile(join(place.folder, 'prices.yaml'), 'utf8');
  beforeEach(async () => {
    place = await makePlace(YAML);
    await writeFile(join(place.folder, 'api.json'), catalogue(1, 2));
  });
  afterEach(() => place.close());

  it('shows what rises and what falls, which models pay it, and what differs from an own price', async () => {
    const { stdout, status } = await place.tollgate('prices', 'update', '--from', 'api.json');
    expect(status).to.equal(0);
    const at = (text: string): number => stdout.indexOf(text);
    expect(at('+ small (gpt-4o-mini of openai): input_per_million 0.15 -> 1.00')).to.be.above(0);
    expect(at('large (gpt-4o of openai): input_per_million 2.50 -> 2.00')).to.be.above(
      at('+ small (gpt-4o-mini'),
    );
    expect(stdout).to.include('own at openai: input_per_million 3.00, in the list 2.00');
    expect(stdout).to.include('1 are new');
    expect(stdout).to.match(/Written: .*prices\.yaml/u);
  });

  it('writes a list with its day, which `price: list` takes, for the providers of the file alone', async () => {
    await place.tollgate('prices', 'update', '--from', 'api.json');
    const today = new Date().toISOString().slice(0, 10);
    expect(await list()).to.include(`date: '${today}'`);
    expect(await list()).not.to.match(/^ {2}(?:acme|anthropic):/mu);
    const { configuration } = await check(place.file, {});
    const price = configuration?.models.get('small')?.price;
    expect(price?.input_nano_per_million).to.equal(1_000_000_000n);
  });

  it('mends a file whose model has no list price yet', async () => {
    await place.write(NEXT);
    expect((await check(place.file, {})).configuration).to.equal(undefined);
    await place.tollgate('prices', 'update', '--from', 'api.json');
    const { configuration } = await check(place.file, {});
    expect(configuration?.models.get('next')?.price.output_nano_per_million).to.equal(
      99n * 10n ** 9n,
    );
  });

  it('keeps a price that is in use with its day, and lists that no catalogue has', async () => {
    const before = `lists:
  openai:
    source: a
    date: 2026-01-02
    models: { gpt-4o: { input_per_million: 7, output_per_million: 8 }, gone: { input_per_million: 1 } }
  lab: { source: us, date: 2026-01-01, models: { m: { input_per_million: 1 } } }
`;
    await writeFile(join(place.folder, 'prices.yaml'), before);
    const rest = JSON.stringify({
      openai: { models: { 'gpt-99': { cost: { input: 1, output: 2 } } } },
    });
    await writeFile(join(place.folder, 'api.json'), rest);
    await place.tollgate('prices', 'update', '--from', 'api.json');
    const text = await list();
    expect(text).to.include("gpt-4o: { date: '2026-01-02' }");
    expect(text).to.match(/^ {2}lab:\n/mu);
    expect(text).not.to.include('gone');
  });

  it('only shows the difference with --dry-run, as JSON too', async () => {
    const plan = await place.json<PriceUpdate & { written: boolean }>(
      'prices',
      'update',
      '--from',
      'api.json',
      '--dry-run',
    );
    expect(plan.written).to.equal(false);
    const small = plan.changes.find(({ model }) => model === 'gpt-4o-mini');
    expect(small).to.deep.include({ manifest: 'openai', kind: 'rises', paid_by: ['small'] });
    expect(plan.own.map(({ model, list: listed }) => [model, listed])).to.deep.equal([
      ['own', '2.00'],
    ]);
    expect(await list().catch(() => 'none')).to.equal('none');
  });

  it('fails in a sentence, and leaves the list as it was', async () => {
    const run = async (...args: string[]) => {
      const { status, stderr } = await place.tollgate('prices', 'update', ...args);
      return `${status} ${stderr}`;
    };
    expect(await run('--from', 'none.json')).to.match(/^1 tollgate: none\.json is no file/u);
    await writeFile(
      join(place.folder, 'api.json'),
      JSON.stringify({ acme: { models: { m: {} } } }),
    );
    expect(await run('--from', 'api.json')).to.match(/^1 tollgate: .*no model of a provider/u);
    expect(await run('--from', 'api.json', '--config', 'none.yaml')).to.match(/^2 /u);
    await writeFile(join(place.folder, 'prices.yaml'), 'lists: 1\n');
    await writeFile(join(place.folder, 'api.json'), catalogue(1, 2));
    expect(await run('--from', 'api.json')).to.match(/^1 .*prices\.yaml:1:/u);
    expect(await list()).to.equal('lists: 1\n');
  });
});

describe('the age of the list prices', () => {
  let place: Place;
  before(async () => {
    place = await makePlace(YAML);
  });
  after(() => place.close());

  const aged = async (days: number): Promise<void> => {
    const date = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    const models =
      '{ gpt-4o-mini: { input_per_million: 1, output_per_million: 1 }, gpt-4o: { input_per_million: 1, output_per_million: 1 } }';
    await writeFile(
      join(place.folder, 'prices.yaml'),
      `lists: { openai: { source: a, date: ${date}, models: ${models} } }\n`,
    );
  };

  it('is told by check and status from 30 days on, and by status as JSON always', async () => {
    await aged(31);
    const old = await place.tollgate('check');
    expect(old.stdout).to.match(/days old: tollgate prices update/u);
    expect(old.status).to.equal(0);
    expect((await place.tollgate('status')).stdout).to.match(/^prices .*days old/mu);
    const { stdout } = await place.tollgate('status', '--json');
    const { list_prices } = JSON.parse(stdout) as { list_prices: { days: number } };
    expect(list_prices.days).to.be.within(31, 400);
  });
});
