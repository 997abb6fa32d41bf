import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Model, Price } from '../../src/core/model.js';
import { shippedPrices, type ListPrices } from '../../src/config/list-prices.js';
import { load } from '../../src/config/load.js';
import { packageRoot } from '../../src/lib/package-root.js';
import { validatorOfShipped } from '../../src/lib/schemas.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { format } from '../../src/yaml/format.js';
import { providerAt } from '../helpers/upstream.js';
import { ENV, FIXTURES } from './helpers/fixtures.js';

const GPT_4O_MINI: Price = {
  free: false,
  input_nano_per_million: 150_000_000n,
  cached_input_nano_per_million: 75_000_000n,
  output_nano_per_million: 600_000_000n,
  tiers: new Map([
    [
      'priority',
      {
        input_nano_per_million: 250_000_000n,
        cached_input_nano_per_million: 125_000_000n,
        output_nano_per_million: 1_000_000_000n,
      },
    ],
  ]),
};

/** What a model is asked for at a provider whose manifest has that name. */
function target(manifest: string, model: string) {
  return { provider: { ...providerAt('http://127.0.0.1'), manifest }, model };
}

describe('the list prices that ship with the gateway', () => {
  let prices: ListPrices;
  before(async () => {
    prices = await shippedPrices();
  });

  it('have no fault, and know models of the large providers', () => {
    for (const [manifest, model] of [
      ['openai', 'gpt-4o-mini'],
      ['anthropic', 'claude-sonnet-4-5'],
      ['gemini', 'gemini-2.5-flash'],
      ['vertex', 'claude-sonnet-4-5'],
      ['bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
      ['mistral', 'mistral-large-latest'],
      ['deepseek', 'deepseek-flash'],
      ['groq', 'llama-3.3-70b-versatile'],
      ['xai', 'grok-4.3'],
    ] as const) {
      const found = prices.find(target(manifest, model), MODALITIES);
      expect(found, `${manifest} ${model}`).to.include.keys('price');
    }
    const mini = prices.find(target('openai', 'gpt-4o-mini'), MODALITIES);
    expect(mini?.price).to.deep.equal(GPT_4O_MINI);
  });

  it('fit their schema, under the names of manifests alone', async () => {
    const folder = join(packageRoot, 'providers');
    const list: unknown = JSON.parse(await readFile(join(folder, 'prices/list.json'), 'utf8'));
    const check = validatorOfShipped('prices', 'file');
    expect(check(list), JSON.stringify(check.errors?.slice(0, 3))).to.equal(true);
    const files = await readdir(folder);
    const { lists } = list as { lists: object };
    expect(Object.keys(lists).filter((name) => !files.includes(`${name}.yaml`))).to.deep.equal([]);
  });

  const SNAPSHOTS: [string, string, string | undefined][] = [
    ['openai', 'gpt-4o-2024-08-06', 'gpt-4o'],
    ['openai', 'gpt-4o-2024-05-13', 'gpt-4o-2024-05-13'],
    ['anthropic', 'claude-haiku-4-5-20251001', 'claude-haiku-4-5'],
    ['vertex', 'claude-haiku-4-5@20251001', 'claude-haiku-4-5'],
    ['vertex', 'claude-opus-4-7@default', 'claude-opus-4-7'],
    ['openai', 'gpt-4o-mini-tuned', undefined],
    ['openai', 'GPT-4o', undefined],
    ['openai', 'constructor', undefined],
    ['constructor', 'gpt-4o', undefined],
    ['vllm', 'gpt-4o', undefined],
  ];
  for (const [manifest, model, listed] of SNAPSHOTS) {
    it(`have ${listed ?? 'nothing'} for ${model} of ${manifest}`, () => {
      expect(prices.find(target(manifest, model), MODALITIES)?.model).to.equal(listed);
    });
  }
});

describe('a file of list prices', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-prices-'));
  });
  after(() => rm(folder, { recursive: true }));

  const acme = (models: string): string => `lists:
  acme: { source: https://a.example, date: 2026-11-01, models: { m: ${models} } }
`;
  const BROKEN: [string, string][] = [
    ['a unit that is none', acme('{ per_token: 1 }')],
    ['a price below zero', acme('{ input_per_million: -1 }')],
    ['no date', acme('{ input_per_million: 1 }').replace(', date: 2026-11-01', '')],
    ['text that is no YAML', 'acme: [\n'],
  ];
  for (const [name, text] of BROKEN) {
    it(`beside gateway.yaml is refused at its place with ${name}`, async () => {
      await writeFile(
        join(folder, 'gateway.yaml'),
        await readFile(`${FIXTURES}sound-list.yaml.txt`),
      );
      await writeFile(join(folder, 'prices.yaml'), text);
      const { faults } = await load(join(folder, 'gateway.yaml'), ENV, MODALITIES);
      const file = join(folder, 'prices.yaml');
      expect(faults.filter((one) => one.file === file && one.line > 0)).not.to.deep.equal([]);
    });
  }
});

describe('the reference of a price', () => {
  let prices: ListPrices;
  before(async () => {
    prices = await shippedPrices();
  });

  const CASES: [manifest: string, model: string, id: string, found: string | undefined][] = [
    ['openai', 'gpt-4o', 'x', 'gpt-4o'],
    ['azure', 'gpt-4o', 'x', 'gpt-4o'],
    ['azure', 'gpt-35-turbo', 'x', 'gpt-35-turbo'],
    ['portkey', 'gpt-35-turbo', 'x', 'gpt-3.5-turbo'],
    ['azure', 'our-deployment', 'gpt-4o-mini', 'gpt-4o-mini'],
    ['azure', 'our-deployment', 'x', undefined],
    ['portkey', 'openai/gpt-4o-2024-11-20', 'x', 'gpt-4o'],
    ['portkey', 'openai/gpt-4o-2024-05-13', 'x', 'gpt-4o-2024-05-13'],
    ['openrouter', 'anthropic/claude-sonnet-4.5', 'x', 'anthropic/claude-sonnet-4.5'],
    ['portkey', 'anthropic/claude-sonnet-4.5', 'x', 'claude-sonnet-4-5'],
    ['openrouter', 'google/gemma-3-27b-it:free', 'x', undefined],
    ['portkey', 'mistralai/mistral-large', 'x', 'mistral-large-latest'],
    ['portkey', 'eu.anthropic.claude-opus-4-7', 'x', 'claude-opus-4-7'],
    ['openai', 'dall-e-3', 'x', 'dall-e-3'],
    ['azure', 'tts-1-hd', 'x', 'tts-1-hd'],
    ['openai', 'text-embedding-3-small', 'x', 'text-embedding-3-small'],
  ];
  for (const [manifest, model, id, found] of CASES) {
    it(`of ${model} at ${manifest}, sold as ${id}, is ${found ?? 'none'}`, () => {
      expect(prices.reference(target(manifest, model), id, MODALITIES)?.model).to.equal(found);
    });
  }

  it('is nearer for a model that one provider sells than for one with open weights', () => {
    const far = (model: string) => prices.reference(target('portkey', model), 'x', MODALITIES)?.far;
    expect(far('openai/gpt-oss-120b')).to.be.above(far('openai/gpt-4o') ?? Infinity);
  });
});

describe('the hint for a model without a list price', () => {
  it('names the manifests that have some', async () => {
    const prices = await shippedPrices();
    const model = target('vllm', 'llama');
    const hosted = { ...model, provider: { ...model.provider, base_url: 'https://ai.example/v1' } };
    expect(prices.hint(hosted)).to.match(/ openai, anthropic, gemini, .*, xai/u);
    expect(prices.hint(model)).to.include('write price: free if the server is your own');
  });
});

describe('price: list', () => {
  let models: ReadonlyMap<string, Model>;
  before(async () => {
    const { configuration, faults } = await load(`${FIXTURES}sound-list.yaml.txt`, ENV, MODALITIES);
    if (!configuration) throw new Error(format(faults, 'text'));
    ({ models } = configuration);
  });

  it('of a model is the list price of each upstream that has no price of its own', () => {
    const small = models.get('small');
    expect(small?.price).to.deep.equal(GPT_4O_MINI);
    expect(small?.upstreams.map(({ price }) => price)).to.deep.equal([
      GPT_4O_MINI,
      {
        free: false,
        input_nano_per_million: 2_500_000_000n,
        cached_input_nano_per_million: 1_250_000_000n,
        output_nano_per_million: 10_000_000_000n,
        tiers: new Map([
          [
            'priority',
            {
              input_nano_per_million: 4_250_000_000n,
              cached_input_nano_per_million: 2_125_000_000n,
              output_nano_per_million: 17_000_000_000n,
            },
          ],
        ]),
      },
      {
        free: false,
        input_nano_per_million: 1_000_000_000n,
        cache_write_nano_per_million: 1_250_000_000n,
        audio_input_nano_per_million: 8_000_000_000n,
        output_nano_per_million: 2_000_000_000n,
        audio_output_nano_per_million: 16_000_000_000n,
      },
    ]);
  });

  it('of an upstream is the list price of that one alone', () => {
    const [own, listed] = models.get('large')?.upstreams ?? [];
    expect(own?.price.input_nano_per_million).to.equal(2_000_000_000n);
    expect(own?.price.cached_input_nano_per_million).to.equal(200_000_000n);
    expect(listed?.price.input_nano_per_million).to.equal(2_500_000_000n);
  });
});
