import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { placeOfStore } from '../../src/core/store-place.js';
import { format } from '../../src/yaml/format.js';
import { defaultEndpoints } from '../../src/config/endpoints.js';
import { load } from '../../src/config/load.js';
import { MODALITIES } from '../../src/modalities/index.js';
import type { Configuration } from '../../src/core/configuration.js';
import { Unreadable } from '../../src/yaml/unreadable.js';
import { ENV, FIXTURES } from './helpers/fixtures.js';

async function sound(name: string): Promise<Configuration> {
  const { configuration, faults } = await load(`${FIXTURES}${name}.yaml.txt`, ENV, MODALITIES);
  if (!configuration) throw new Error(format(faults, 'text'));
  return configuration;
}

const fields = <T extends object, K extends keyof T>(value: T, ...names: K[]) =>
  Object.fromEntries(names.map((name) => [name, value[name]]));

describe('load of a valid configuration', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-load-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('fills in the defaults of what the file leaves out', async () => {
    const configuration = await sound('sound-smallest');
    expect(configuration).to.deep.include({
      directory: FIXTURES.slice(0, -1),
      listen: { host: '127.0.0.1', port: 8080 },
      public_url: 'http://127.0.0.1:8080',
      store: placeOfStore(`sqlite:${FIXTURES}data/tollgate.db`),
      journal: `${FIXTURES}data/journal`,
      drain_ms: 30_000,
      drain_delay_ms: 0,
      keep_alive_ms: 15_000,
      log_level: 'info',
      log_format: 'auto',
      headers: { upstream: false, cost: true, attempts: false },
      first_start: undefined,
    });
    expect(configuration.limits).to.deep.equal({
      body_bytes: 20_971_520,
      answer_bytes: 67_108_864,
      stream_bytes: 268_435_456,
      event_bytes: 8_388_608,
      stream_events: 1_000_000,
      answer_calls: 1_000,
      answer_parts: 10_000,
      drain_ms: 30_000,
      drain_bytes: 16_777_216,
      linger_ms: 2_000,
      linger_bytes: 262_144,
      body_values: 100_000,
      body_stall_ms: 10_000,
      in_flight: 4_096,
      in_flight_bytes: 268_435_456,
      client_ms: 60_000,
      connections: 2048,
      idle_connection_ms: 30_000,
      cost_in_usage: false,
      sockets: 1_000,
      account_sockets: 100,
      socket_bytes: 8_388_608,
      sockets_total_bytes: 268_435_456,
      socket_age_ms: 3_600_000,
      keys: 100,
      task_ms: 86_400_000,
      idempotency_ms: 86_400_000,
      idempotency_total_bytes: 1_073_741_824,
      journal_bytes: 67_108_864,
      image_bytes: 33_554_432,
      images_total_bytes: 1_073_741_824,
      image_ttl_ms: 3_600_000,
      fetch_ms: 15_000,
      fetch_bytes: 20_971_520,
      fetch_urls: 20,
      media_ms: 5_000,
      media_memory_bytes: 268_435_456,
      failed_keys: 300,
      sign_ins: 30,
    });
    const addresses = configuration.endpoints.map(({ method, path }) => `${method} ${path}`);
    expect(addresses).to.deep.equal(defaultEndpoints(MODALITIES).map(({ at }) => at));
    expect(addresses).to.include.members(['POST /v1/chat/completions', 'GET /v1/models']);
  });

  it('reads every setting that the file may have', async () => {
    const configuration = await sound('sound-everything');
    expect(configuration).to.deep.include({
      listen: { host: '::1', port: 8099 },
      public_url: 'https://ai.example.com',
      store: placeOfStore(`postgres://me:${ENV.SECRET}@127.0.0.1/tollgate`),
      journal: `${FIXTURES}spool/charges`,
      drain_ms: 45_000,
      keep_alive_ms: 10_000,
      log_level: 'debug',
      log_format: 'json',
      headers: { upstream: true, cost: false, attempts: true },
      first_start: { account: 'me', credit_nano: 10_000_000_000n },
    });
    expect(configuration.limits).to.deep.equal({
      body_bytes: 1_048_576,
      answer_bytes: 2_097_152,
      stream_bytes: 3_145_728,
      event_bytes: 65_536,
      stream_events: 5_000,
      answer_calls: 50,
      answer_parts: 500,
      drain_ms: 0,
      drain_bytes: 0,
      linger_ms: 500,
      linger_bytes: 65_536,
      body_values: 5_000,
      body_stall_ms: 20_000,
      in_flight: 3_000,
      in_flight_bytes: 67_108_864,
      client_ms: 60_000,
      connections: 8,
      idle_connection_ms: 45_000,
      sockets: 50,
      account_sockets: 5,
      socket_bytes: 1_048_576,
      sockets_total_bytes: 16_777_216,
      socket_age_ms: 1_200_000,
      keys: 3,
      task_ms: 5_400_000,
      idempotency_ms: 43_200_000,
      idempotency_total_bytes: 4_194_304,
      journal_bytes: 2_097_152,
      image_bytes: 1_048_576,
      images_total_bytes: 8_388_608,
      image_ttl_ms: 120_000,
      fetch_ms: 3_000,
      fetch_bytes: 5_242_880,
      fetch_urls: 0,
      media_ms: 2_000,
      media_memory_bytes: 201_326_592,
      failed_keys: 100,
      sign_ins: 10,
      cost_in_usage: true,
    });
  });

  it('reads the allow list of the sign-in', async () => {
    const { sign_in, trusted_proxies, cors } = await sound('sound-everything');
    const { providers, ...rest } = sign_in;
    expect(rest).to.deep.equal({
      allow: ['@example.org', 'ada@example.com'],
      operators: ['ada@example.com'],
      credit_nano: 1_000_000_000n,
      session: { idle_ms: 43_200_000, lifetime_ms: 2_592_000_000 },
    });
    expect(Object.fromEntries(providers)).to.deep.equal({
      google: {
        name: 'google',
        title: 'Google',
        kind: 'openid',
        issuer: 'https://accounts.google.com',
        trust_email: false,
        client_id: 'me',
        client_secret: ENV.SECRET,
        scopes: ['openid', 'email'],
      },
      'lab-1': {
        name: 'lab-1',
        title: 'Lab-1',
        kind: 'openid',
        issuer: 'http://127.0.0.1:9090/realms/lab/',
        trust_email: true,
        client_id: 'public',
        client_secret: undefined,
        scopes: ['openid', 'email'],
      },
      hub: {
        name: 'hub',
        title: 'GitHub',
        kind: 'github',
        base_url: 'https://git.example.org',
        api_url: 'https://git.example.org/api/v3',
        client_id: 'me',
        client_secret: 'key-from-a-file',
        scopes: ['read:user', 'user:email'],
      },
    });
    expect(cors).to.deep.equal(['https://app.example.com', '*']);
    expect(trusted_proxies).to.deep.equal(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']);
  });

  it('has no sign-in provider if the file names none', async () => {
    const { sign_in, dashboard } = await sound('sound-smallest');
    expect(dashboard).to.equal(true);
    expect(sign_in.providers.size).to.equal(0);
    expect(sign_in.session).to.deep.equal({ idle_ms: 43_200_000, lifetime_ms: 2_592_000_000 });
  });

  it('joins a provider with its manifest', async () => {
    const { providers } = await sound('sound-everything');
    const keyed = providers.get('keyed');
    expect(keyed).to.deep.include({
      manifest: 'keyed',
      base_url: 'https://expanded.example.com/v1',
      headers: {
        'x-version': '2026-01-01',
        'x-api-key': 'Key key-from-a-file',
        'x-note': '${NOT_EXPANDED}',
        'x-default': 'standard',
      },
      timeouts: { connect_ms: 1500, first_byte_ms: 120_000, idle_ms: 500, total_ms: 3_600_000 },
      poll_interval_ms: 5000,
      on_abort: 'abort',
      local: undefined,
    });
    expect(providers.get('plain')).to.deep.include({
      base_url: 'http://127.0.0.1:9000/v1',
      headers: {},
      timeouts: {
        connect_ms: 5000,
        first_byte_ms: 300_000,
        idle_ms: 300_000,
        total_ms: 600_000,
      },
      poll_interval_ms: 2000,
      wire: { stream_options: false },
    });
    expect(keyed?.operations.get('chat')).to.include({ path: '/chat/completions', max: Infinity });
    expect(keyed?.operations.get('chat')?.codec).to.respondTo('encode');
  });

  it('joins a model with its upstreams', async () => {
    const { models } = await sound('sound-everything');
    const large = models.get('acme/large-1.5');
    expect(large).to.deep.include({
      owner: 'acme',
      created: 1_721_260_800,
      capabilities: new Set(['chat', 'vision', 'audio', 'tools']),
      limits: { max_tokens: 4096, context: 128_000, image_tokens: 1024 },
      passthrough: new Set(['seed', 'response_format', 'top_k']),
    });
    const [first, second] = large?.upstreams ?? [];
    expect(first && fields(first, 'model', 'weight', 'set', 'drop', 'rename')).to.deep.equal({
      model: 'large',
      weight: 3,
      set: { temperature: 0.2, nested: { list: [1, 'two'] } },
      // The second one's manifest lets the rest through; top_k is listed by the model itself.
      drop: ['logit_bias', 'seed', 'response_format'],
      rename: { max_tokens: 'max_completion_tokens' },
    });
    expect(second && fields(second, 'model', 'weight', 'set', 'drop', 'rename')).to.deep.equal({
      model: 'acme/large-1.5',
      weight: 1,
      set: {},
      drop: ['user'],
      rename: { stop: 'stop_sequences' },
    });
  });

  it('keeps the digits of prices', async () => {
    const { models } = await sound('sound-everything');
    const price = (input: bigint, output: bigint, free = false) => ({
      free,
      input_nano_per_million: input,
      output_nano_per_million: output,
    });
    const large = models.get('acme/large-1.5');
    expect(large?.price).to.deep.equal(price(123_456_789n, 10_000_000_000n));
    expect(large?.upstreams.map((upstream) => upstream.price)).to.deep.equal([
      price(250_000_000n, 1_000_000n),
      price(123_456_789n, 10_000_000_000n),
    ]);
    expect(models.get('4')?.price).to.deep.equal(price(0n, 0n, true));
  });

  it('follows YAML merge keys', async () => {
    const { models } = await sound('sound-everything');
    const merged = models.get('acme/large');
    expect(merged).to.deep.include({ created: 1_700_000_000, owner: 'acme' });
    expect(merged?.price.input_nano_per_million).to.equal(3_000_000_000n);
    expect(merged?.upstreams).to.have.length(2);
  });

  it('reads endpoints with the places of their stages', async () => {
    const { endpoints } = await sound('sound-everything');
    const [chat, own] = endpoints;
    const stages = chat?.stages.map(({ name, option }) => [name, option]);
    expect(stages).to.deep.equal([
      ['auth', undefined],
      ['validate', 'chat-completion'],
      ['route', { capability: 'chat' }],
      ['balance', undefined],
      ['transform', 'chat'],
      ['meter', undefined],
    ]);
    expect(chat?.stages[2]?.place).to.deep.include({ line: 55, column: 47 });
    expect(own).to.deep.include({ method: 'PUT', path: '/v2/{model}/things/{id}' });
    expect(own?.stages[0]?.name).to.equal('./plugins/own.js');
  });

  it('gives the endpoints also where other parts are broken', async () => {
    const { endpoints, configuration } = await load(
      `${FIXTURES}endpoint-method.yaml.txt`,
      ENV,
      MODALITIES,
    );
    const shipped = defaultEndpoints(MODALITIES).map(({ name }) => name);
    expect(configuration).to.equal(undefined);
    expect(endpoints.map(({ name }) => name)).to.deep.equal(
      shipped.filter((name) => name !== 'chat'),
    );
    const broken = await load(`${FIXTURES}name-owner.yaml.txt`, ENV, MODALITIES);
    expect([broken.endpoints.length, broken.configuration]).to.deep.equal([
      defaultEndpoints(MODALITIES).length,
      undefined,
    ]);
  });

  it('a model without a date had another one after each edit of the file', async () => {
    const file = join(folder, 'gateway.yaml');
    const provider = 'providers: { p: { uses: simulator } }';
    const model = '{ owner: a, capabilities: [chat], upstreams: [{ provider: p }], price: free }';
    await writeFile(file, `owners: { a: { name: A } }\n${provider}\nmodels: { m: ${model} }\n`);
    await utimes(file, 1_600_000_000, 1_600_000_000.9);
    const { configuration } = await load(file, {}, MODALITIES);
    expect(configuration?.models.get('m')?.created).to.equal(Date.UTC(2024, 0, 1) / 1000);
    expect(configuration?.providers.get('p')?.local).to.respondTo('answer');
  });

  it('gives a configuration that nothing can change', async () => {
    const configuration = await sound('sound-everything');
    const large = configuration.models.get('acme/large-1.5');
    const inner = [
      configuration,
      configuration.limits,
      configuration.providers.get('keyed')?.headers,
      large,
      large?.upstreams,
      large?.upstreams[0]?.set,
      large?.upstreams[0]?.set.nested,
      configuration.endpoints[0]?.stages[0],
    ];
    expect(inner.map((one) => one !== undefined && Object.isFrozen(one))).to.not.include(false);
  });

  for (const [what, path] of [
    ['is missing', 'none.yaml'],
    ['is a folder', 'providers'],
  ]) {
    it(`throws Unreadable for a file that ${what}`, async () => {
      let thrown: unknown;
      await load(FIXTURES + path, ENV, MODALITIES).catch((error: unknown) => (thrown = error));
      expect(thrown).to.be.instanceOf(Unreadable);
    });
  }
});
