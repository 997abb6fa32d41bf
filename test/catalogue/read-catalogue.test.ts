import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readCatalogue } from '../../src/catalogue/read-catalogue.js';

const ENTRY = {
  tool_call: true,
  reasoning: false,
  modalities: { input: ['text', 'image'], output: ['text'] },
  limit: { context: 1000, output: 100 },
};
const COST = { input: 1, output: 4, cache_read: 0.1, cache_write: 1.25, input_audio: 1 };

/** Costs for one token. */
const token = (dollars: number): number => dollars / 1e6;

const WORKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri'];

const MAP = {
  sample_spec: { litellm_provider: 'one of many', max_input_tokens: 'a number' },
  'acme/large': {
    litellm_provider: 'acme',
    mode: 'chat',
    input_cost_per_token: token(3),
    output_cost_per_token: token(15),
    cache_creation_input_token_cost: token(3.75),
    cache_creation_input_token_cost_above_1hr: token(6),
    cache_read_input_token_cost: 0,
    input_cost_per_token_above_200k_tokens: token(6),
    output_cost_per_token_above_200k_tokens: token(22.5),
    cache_creation_input_token_cost_above_1hr_above_200k_tokens: token(12),
    max_input_tokens: 1000,
    supports_vision: false,
    supports_function_calling: true,
    deprecation_date: '2027-01-31',
  },
  'acme/tiered': {
    litellm_provider: 'acme',
    mode: 'chat',
    input_cost_per_token: token(3),
    output_cost_per_token: token(15),
    input_cost_per_token_flex: token(1.5),
    output_cost_per_token_flex: token(7.5),
    input_cost_per_token_batches: token(1.5),
    input_cost_per_token_above_200k_tokens: token(6),
    input_cost_per_token_above_200k_tokens_flex: token(3),
    off_peak_pricing: {
      input_cost_per_token: token(1),
      windows: [
        { hours_utc: ['00:00-01:00', '10:00-00:00'], weekdays: [1, 2, 3, 4, 5] },
        { hours_utc: '00:00-00:00', weekdays: [6, 7] },
      ],
    },
  },
  'acme/shanghai': {
    litellm_provider: 'acme',
    mode: 'chat',
    input_cost_per_token: token(3),
    output_cost_per_token: token(15),
    off_peak_pricing: {
      input_cost_per_token: token(1),
      weekday_timezone: 'Asia/Shanghai',
      windows: [{ hours_utc: '10:00-00:00', weekdays: [1] }],
    },
  },
  'acme/eu-west-1/large': {
    litellm_provider: 'acme',
    mode: 'chat',
    input_cost_per_token: token(9),
  },
  'acme/unknown': { litellm_provider: 'acme', mode: 'chat', input_cost_per_token: 0 },
  'acme/banded': {
    litellm_provider: 'acme',
    mode: 'chat',
    output_cost_per_token: token(1),
    input_cost_per_token: token(1),
    input_cost_per_token_above_32k_tokens: token(2),
    input_cost_per_token_above_256k_tokens: token(3),
  },
  'acme/vectors': { litellm_provider: 'acme', mode: 'embedding', input_cost_per_token: token(0.1) },
  'acme/painter': {
    litellm_provider: 'acme',
    mode: 'image_generation',
    output_cost_per_image: 0.04,
  },
  'acme/tokens': {
    litellm_provider: 'acme',
    mode: 'image_generation',
    input_cost_per_token: token(5),
    input_cost_per_image_token: token(8),
    output_cost_per_token: token(10),
    output_cost_per_image: 0.04,
    output_cost_per_image_token: token(32),
  },
  'acme/drawer': {
    litellm_provider: 'acme',
    mode: 'image_generation',
    input_cost_per_token: token(5),
    input_cost_per_image_token: token(5),
    output_cost_per_image_token: token(40),
  },
  'hd/1024-x-1024/sized': { litellm_provider: 'acme', mode: 'image_generation' },
  sized: { litellm_provider: 'acme', mode: 'image_generation', output_cost_per_image: 0.04 },
  'acme/ears': {
    litellm_provider: 'acme',
    mode: 'audio_transcription',
    input_cost_per_second: 0.0001,
  },
  'acme/voice': {
    litellm_provider: 'acme',
    mode: 'audio_speech',
    input_cost_per_character: 0.000015,
  },
};

describe('a catalogue of models', () => {
  let folder: string;
  const write = async (name: string, value: unknown): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value));
    return file;
  };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-catalogue-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('of models.dev has prices, limits and abilities; what does not fit is counted', async () => {
    const fast = {
      cost: { input: 2, output: 8 },
      provider: { body: { service_tier: 'priority' } },
    };
    const models = {
      fast: { ...ENTRY, cost: COST, experimental: { modes: { fast } } },
      plain: { ...ENTRY, cost: COST },
      long: {
        ...ENTRY,
        cost: { ...COST, tiers: [{ tier: { size: 200000 }, input: 2, output: 6 }] },
      },
      thinks: { ...ENTRY, cost: { ...COST, reasoning: 8 } },
      free: { ...ENTRY, cost: { input: 0, output: 0 }, status: 'deprecated' },
      odd: { ...ENTRY, cost: { input: 'much' } },
    };
    const file = await write('api.json', { acme: { id: 'acme', models } });
    const { models: read, skipped } = await readCatalogue(file);
    const acme = read.get('acme');
    const plain = {
      input_per_million: 1,
      cached_input_per_million: 0.1,
      cache_write_per_million: 1.25,
      output_per_million: 4,
    };
    expect(acme?.get('plain')?.price).to.deep.equal(plain);
    expect(acme?.get('plain')?.facts).to.deep.equal({
      context: 1000,
      max_tokens: 100,
      has: ['tools', 'vision'],
      lacks: ['audio', 'file', 'reasoning'],
    });
    const long_prompt = { above_tokens: 200000, input_per_million: 2, output_per_million: 6 };
    expect(acme?.get('long')?.price).to.deep.equal({ ...plain, long_prompt });
    expect(acme?.get('thinks')).not.to.have.property('price');
    expect(acme?.get('free')).not.to.have.property('price');
    expect(acme?.get('free')?.facts.gone).to.equal(true);
    const tiers = { priority: { input_per_million: 2, output_per_million: 8 } };
    expect(acme?.get('fast')?.price).to.deep.equal({ ...plain, tiers });
    expect([acme?.size, skipped]).to.deep.equal([5, 1]);
  });

  it('for one token has the same, and leaves out regions, sizes and what no unit says', async () => {
    const { models, skipped } = await readCatalogue(await write('map.json', MAP));
    const acme = models.get('acme');
    expect(acme?.get('large')?.price).to.deep.equal({
      input_per_million: 3,
      cache_write_per_million: 3.75,
      cache_write_1h_per_million: 6,
      output_per_million: 15,
      long_prompt: {
        above_tokens: 200000,
        input_per_million: 6,
        cache_write_1h_per_million: 12,
        output_per_million: 22.5,
      },
    });
    expect(acme?.get('large')?.facts).to.deep.equal({
      context: 1000,
      has: ['tools'],
      lacks: ['vision'],
      retires: '2027-01-31',
    });
    expect(acme?.get('tiered')?.price).to.deep.equal({
      input_per_million: 3,
      output_per_million: 15,
      long_prompt: { above_tokens: 200000, input_per_million: 6 },
      tiers: {
        flex: {
          input_per_million: 1.5,
          output_per_million: 7.5,
          long_prompt: { above_tokens: 200000, input_per_million: 3 },
        },
      },
      off_peak: [
        { days: WORKDAYS, from: '00:00', to: '01:00', zone: 'UTC', input_per_million: 1 },
        { days: WORKDAYS, from: '10:00', to: '00:00', zone: 'UTC', input_per_million: 1 },
        { days: ['sat', 'sun'], zone: 'UTC', input_per_million: 1 },
      ],
    });
    // No block has its hours in one zone and its days in another.
    expect(acme?.get('shanghai')?.price).to.deep.equal({
      input_per_million: 3,
      output_per_million: 15,
    });
    expect(acme?.get('tokens')?.price).to.deep.equal({
      input_per_million: 5,
      image_input_per_million: 8,
      output_per_million: 10,
      image_output_per_million: 32,
    });
    // It makes nothing but images, and reads them at the price of text.
    const drawer = { input_per_million: 5, output_per_million: 40 };
    expect(acme?.get('drawer')?.price).to.deep.equal(drawer);
    const prices = ['unknown', 'banded', 'sized', 'vectors', 'painter', 'ears', 'voice'].map(
      (id) => acme?.get(id)?.price,
    );
    expect(prices).to.deep.equal([
      undefined,
      undefined,
      undefined,
      { input_per_million: 0.1 },
      { per_image: 0.04 },
      { per_audio_minute: 0.006 },
      { per_million_characters: 15 },
    ]);
    expect([...(acme?.keys() ?? [])]).not.to.include('eu-west-1/large');
    expect(skipped).to.equal(1);
  });

  it('may be a folder of TOML, whose models share what is in another file', async () => {
    const root = join(folder, 'repository');
    await mkdir(join(root, 'providers/acme/models/vendor'), { recursive: true });
    await mkdir(join(root, 'models/vendor'), { recursive: true });
    await write(
      'repository/models/vendor/m.toml',
      'tool_call = true\n[limit]\ncontext = 1_000\noutput = 10\n',
    );
    const own =
      'base_model = "vendor/m"\nbase_model_omit = ["limit.output"]\n[cost]\ninput = 1\noutput = 2\n';
    await write('repository/providers/acme/models/vendor/m.toml', own);
    await symlink('nowhere.toml', join(root, 'providers/acme/models/lost.toml'));
    const model = (await readCatalogue(root)).models.get('acme')?.get('vendor/m');
    expect(model?.price).to.deep.equal({ input_per_million: 1, output_per_million: 2 });
    expect(model?.facts).to.deep.equal({ context: 1000, has: ['tools'] });
  });

  const faultOf = async (from: string): Promise<string> => {
    const error: unknown = await readCatalogue(from).catch((one: unknown) => one);
    return String(error);
  };

  it('that cannot be read is refused in a sentence', async () => {
    expect(await faultOf(join(folder, 'none.json'))).to.include(
      'is no file, no folder and no address',
    );
    expect(await faultOf(await write('text.json', 'no JSON'))).to.include('is not JSON');
    expect(await faultOf(await write('other.json', { a: 1 }))).to.include(
      'is neither the catalogue',
    );
    expect(await faultOf(await write('list.json', [1]))).to.include('is neither the catalogue');
    const none = { a: { litellm_provider: 1 } };
    expect(await faultOf(await write('none.json', none))).to.include('has no model in a form');
    await mkdir(join(folder, 'empty'));
    expect(await faultOf(join(folder, 'empty'))).to.include('has no TOML files');
    await mkdir(join(folder, 'bad/models'), { recursive: true });
    await write('bad/models/m.toml', 'a = [');
    expect(await faultOf(join(folder, 'bad'))).to.include('m.toml is not TOML');
    expect(await faultOf('http://prices.example/api.json')).to.include('write an https: address');
    expect(await faultOf('ftp://prices.example/api.json')).to.include('write an https: address');
  });

  describe('at an address', () => {
    let server: Server;
    let url: string;
    before(async () => {
      server = createServer((request, response) => {
        if (request.url === '/away') response.writeHead(302, { location: '/map.json' }).end();
        else if (request.url === '/endless') {
          const more = (): void => {
            if (response.write(Buffer.alloc(1024 ** 2, 0x20))) setImmediate(more);
            else response.once('drain', more);
          };
          response.on('error', () => undefined);
          more();
        } else response.end(JSON.stringify(MAP));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    after(() => {
      server.closeAllConnections();
      server.close();
    });

    it('is read', async () => {
      const { source, models } = await readCatalogue(`${url}/map.json`);
      expect([source, models.has('acme')]).to.deep.equal([`${url}/map.json`, true]);
    });

    it('is not followed elsewhere, and not read without end', async () => {
      expect(await faultOf(`${url}/away`)).to.include('answers with status 302');
      expect(await faultOf(`${url}/endless`)).to.include('has over 33554432 bytes');
    });
  });
});
