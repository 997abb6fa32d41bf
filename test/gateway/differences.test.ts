import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Configuration } from '../../src/core/configuration.js';
import { check } from '../../src/gateway/check.js';
import { differences } from '../../src/gateway/differences.js';

const BASE = `owners: { acme: { name: Acme }, other: { name: Other } }
providers:
  here: { uses: openai, base_url: 'http://127.0.0.1:9000/v1', api_key: '\${KEY}' }
  there: { uses: openai, base_url: 'http://127.0.0.1:9001/v1', api_key: '\${KEY}' }
  film: { uses: simulator }
  jobs: { uses: videos-api }
cors: ['https://app.example']
models:
  small:
    owner: acme
    capabilities: [chat, tools]
    upstreams: [{ provider: here, model: one }]
    limits: { max_tokens: 4000, context: 100000 }
    price: { input_per_million: 1.00, output_per_million: 2.00 }
    passthrough: [my_field]
  second:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: there, model: two }]
    price: free
  clip:
    owner: acme
    capabilities: [video]
    upstreams: [{ provider: film }]
    limits: { duration_seconds: 6, resolutions: [720p, 1080p] }
    price: { per_video_second: 0.02 }
  loud:
    owner: acme
    capabilities: [video]
    upstreams: [{ provider: jobs }]
    price: { per_video_second: 0.01 }
  still:
    owner: acme
    capabilities: [image]
    upstreams: [{ provider: film }]
    price: { per_image: { standard: 0.04, hd: 0.08 } }
`;

/** A change of the file, the sentences that tell it, and whether a client loses something. */
const PAIRS: [title: string, from: string, to: string, told: string[], loses: boolean][] = [
  [
    'a model that is gone',
    BASE.slice(BASE.indexOf('  second:'), BASE.indexOf('  clip:')),
    '',
    ['model second is gone'],
    true,
  ],
  [
    'headers that tell of upstreams, which the log of a reload called no change',
    'owners: {',
    'headers: { upstream: true, attempts: true }\nowners: {',
    ['answers have the header tollgate-upstream', 'answers have the header tollgate-attempts'],
    false,
  ],
  [
    'a header that answers no longer have',
    'owners: {',
    'headers: { cost: false }\nowners: {',
    ['answers have no header tollgate-cost any more'],
    true,
  ],
  [
    'a price that rises',
    'input_per_million: 1.00',
    'input_per_million: 1.20',
    [
      'model small: input_per_million up by 20 %, from 1.00 to 1.20',
      'model small: the hold of an example chat call grows from ',
    ],
    false,
  ],
  [
    'a discount of the provider, which its clients do not notice',
    "base_url: 'http://127.0.0.1:9000/v1',",
    "base_url: 'http://127.0.0.1:9000/v1', discount: 20%,",
    [
      'for the operator alone, model small at here: input_per_million down by 20 %, from 1.00 to 0.80',
      'for the operator alone, model small at here: output_per_million down by 20 %, from 2.00 to 1.60',
    ],
    false,
  ],
  [
    'a fee, a tier, hours and a tool that have prices now',
    'output_per_million: 2.00 }',
    `output_per_million: 2.00, per_request: 0.01, per_tool_call: { web_search: 0.02 },
             tiers: { flex: { output_per_million: 1.00 } },
             off_peak: { from: "01:00", to: "02:00", zone: UTC, input_per_million: 0.50 } }`,
    [
      'model small: tiers flex output_per_million down by 50 %, from 2.00 to 1.00',
      'model small: off_peak input_per_million down by 50 %, from 1.00 to 0.50',
      'model small: per_tool_call web_search has a price of its own now, 0.02',
      'model small: per_request has a price of its own now, 0.01',
      'model small: the hold of an example chat call grows from ',
    ],
    false,
  ],
  [
    'a price that falls',
    'output_per_million: 2.00',
    'output_per_million: 0.50',
    ['model small: output_per_million down by 75 %, from 2.00 to 0.50'],
    false,
  ],
  [
    'a free model that has a price now',
    'price: free',
    'price: { input_per_million: 1, output_per_million: 1 }',
    ['model second: it was free and has a price now', 'model second: the hold of an example'],
    false,
  ],
  [
    'a capability that is gone',
    '[chat, tools]',
    '[chat]',
    ['model small: the capability tools is gone'],
    true,
  ],
  [
    'a field that is gone',
    'passthrough: [my_field]',
    'passthrough: []',
    ['model small: the field my_field is gone'],
    true,
  ],
  [
    'a limit that is lower',
    'max_tokens: 4000',
    'max_tokens: 2000',
    ['model small: the limit max_tokens is 2000, 4000 before'],
    true,
  ],
  [
    'a limit that is higher',
    'context: 100000',
    'context: 200000',
    ['model small: the limit context is 200000, 100000 before'],
    false,
  ],
  [
    'an upstream that moved',
    'provider: here, model: one',
    'provider: there, model: one',
    ['model small: its upstreams are there one; here one before'],
    false,
  ],
  [
    'an endpoint that is gone',
    'owners:',
    'endpoints: { embeddings: off }\nowners:',
    ['endpoint POST /v1/embeddings is gone'],
    true,
  ],
  [
    'an address that moved',
    '127.0.0.1:9001',
    '127.0.0.1:9002',
    ['provider there: its address is http://127.0.0.1:9002/v1, http://127.0.0.1:9001/v1 before'],
    false,
  ],
  [
    'an owner that changed',
    'owner: acme\n    capabilities: [chat]',
    'owner: other\n    capabilities: [chat]',
    ['model second: its owner is other, acme before'],
    false,
  ],
  [
    'a price of cached tokens, which were paid as input before',
    'input_per_million: 1.00',
    'input_per_million: 1.00, cached_input_per_million: 0.10',
    ['model small: cached_input_per_million down by 90 %, from 1.00 to 0.10'],
    false,
  ],
  [
    'prices of long prompts, which cost as much as short ones before',
    'output_per_million: 2.00',
    'output_per_million: 2.00, long_prompt: { above_tokens: 60000, input_per_million: 2.00 }',
    ['model small: long_prompt input_per_million up by 100 %, from 1.00 to 2.00'],
    false,
  ],
  [
    'prices of hours and days, which cost as much as others before',
    'output_per_million: 2.00',
    'output_per_million: 2.00, off_peak: [{ days: [sat, sun], input_per_million: 0.50 }, ' +
      '{ from: "10:00", to: "01:00", input_per_million: 0.80 }]',
    [
      'model small: off_peak on Sat, Sun UTC input_per_million down by 50 %, from 1.00 to 0.50',
      'model small: off_peak from 10:00 to 01:00 UTC input_per_million down by 20 %, ' +
        'from 1.00 to 0.80',
    ],
    false,
  ],
  [
    'one price of images in place of two',
    '{ standard: 0.04, hd: 0.08 }',
    '0.05',
    [
      'model still: per_image standard up by 25 %, from 0.04 to 0.05',
      'model still: per_image hd down by 37.5 %, from 0.08 to 0.05',
    ],
    false,
  ],
  [
    'a price of one upstream',
    '{ provider: here, model: one }',
    '{ provider: here, model: one, price: { input_per_million: 1.50, output_per_million: 2.00 } }',
    ['model small at here: input_per_million up by 50 %, from 1.00 to 1.50'],
    false,
  ],
  [
    'longer videos, which take nothing from clients',
    'duration_seconds: 6',
    'duration_seconds: 8',
    ['model clip: the limit duration_seconds is 8, 6 before'],
    false,
  ],
  [
    'a resolution that is gone',
    '[720p, 1080p]',
    '[720p]',
    ['model clip: the limit resolutions is [720p], [720p, 1080p] before'],
    true,
  ],
  [
    'a smaller limit of all requests',
    'owners:',
    'limits: { body: 1mb }\nowners:',
    ['limits.body is 1mb, 20mb before'],
    true,
  ],
  [
    'an origin whose pages may no longer call',
    'https://app.example',
    'https://other.example',
    ['cors: pages of https://app.example may no longer call'],
    true,
  ],
  [
    'another address of the gateway and another store',
    'owners:',
    'public_url: https://ai.example\nstore: sqlite:other.db\nowners:',
    [
      'the gateway is at https://ai.example, http://127.0.0.1:8080 before',
      'the store is another one, which has accounts, keys and balances of its own',
    ],
    false,
  ],
  [
    'a stage of every endpoint, once',
    'owners:',
    "endpoints: { '*': { after: { validate: [mask] } } }\nowners:",
    ['endpoint POST /v1/chat/completions: the stage mask is new (as in 38 more endpoints)'],
    false,
  ],
];

/** Values that follow from others, or that no gateway.yaml decides. */
const DERIVED = [
  /^\/(?:file|directory|is_public_url_default)$/u,
  /^\/(?:models|providers)\/[^/]+\/(?:id|name)$/u,
  /\/upstreams\/\d+\/provider$/u,
  /\/price\/(?:cost\/)?(?:free|input_only|new_key)$/u,
  /^\/endpoints\/\d+\/(?:main|traits|place|stages\/\d+\/(?:place|option_place|part_places|new_key))/u,
  // One operation of a manifest has one codec, which is code.
  /\/codec(?:\/|$)/u,
];

/** Copies of a value, each of which differs in one of the values within, with its path. */
function* changedEach(value: unknown, path: string): Generator<{ path: string; value: unknown }> {
  if (DERIVED.some((one) => one.test(path)) || typeof value === 'function') return;
  if (value instanceof Set) {
    yield { path, value: new Set([...(value as Set<unknown>), 'other']) };
  } else if (value instanceof Map) {
    const map = value as ReadonlyMap<unknown, unknown>;
    for (const [key, inner] of map) {
      for (const one of changedEach(inner, `${path}/${String(key)}`)) {
        yield { path: one.path, value: new Map(map).set(key, one.value) };
      }
    }
  } else if (Array.isArray(value)) {
    const list = value as unknown[];
    for (const [at, inner] of list.entries()) {
      for (const one of changedEach(inner, `${path}/${at}`)) {
        yield { path: one.path, value: list.with(at, one.value) };
      }
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      for (const one of changedEach(inner, `${path}/${key}`)) {
        yield { path: one.path, value: { ...value, [key]: one.value } };
      }
    }
    // A key that this version does not know yet.
    const added = `${path}/new_key`;
    if (!DERIVED.some((one) => one.test(added))) {
      yield { path: added, value: { ...value, new_key: 1 } };
    }
  } else yield { path, value: otherThan(value, path) };
}

function otherThan(value: unknown, path: string): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value === Infinity ? 1 : value + 1000;
  if (typeof value === 'bigint') return value + 1_000_000_000n;
  if (value === undefined) return path.includes('/limits/') ? 5 : 'other';
  return `${JSON.stringify(value)}x`;
}

const CHANGED =
  '{ provider: here, model: one, set: { temperature: 0 }, drop: [tools], rename: { stop: ends } }';

/** Changes that `diff` did not see, with all that it says of each. */
const ONCE_SILENT: [title: string, from: string, to: string, told: [boolean, string][]][] = [
  [
    'what an upstream entry sets, drops and renames, which diff called nothing',
    '{ provider: here, model: one }',
    CHANGED,
    [
      [true, 'model small at here: set.temperature is 0, none before'],
      [true, 'model small at here: drop has tools now'],
      [false, 'model small at here: rename.stop is ends, none before'],
    ],
  ],
  [
    'a shorter timeout, which diff called nothing',
    "9000/v1', api",
    "9000/v1', timeout: { first_byte: 5s }, api",
    [[true, 'provider here: timeout.first_byte is 5s, 10m before']],
  ],
  [
    'a shorter timeout and fewer retries of one upstream entry',
    '{ provider: here, model: one }',
    '{ provider: here, model: one, timeout: { idle: 5s }, retry: { attempts: 0 } }',
    [
      [true, 'model small at here: timeout.idle is 5s, 5m before'],
      [true, 'model small at here: retry.attempts is 0, 1 before'],
    ],
  ],
  [
    'defaults for all providers',
    'owners:',
    'defaults: { retry: { attempts: 3 } }\nowners:',
    ['here', 'there', 'film', 'jobs'].map((name) => [
      false,
      `provider ${name}: retry.attempts is 3, 1 before`,
    ]),
  ],
  [
    'rates of all and of one model, and another time zone',
    'owners:',
    'time_zone: Europe/Zurich\nrates: { key: { requests_per_minute: 60 } }\nowners:',
    [
      [false, 'time_zone is Europe/Zurich, UTC before'],
      [true, 'rates.key.requests_per_minute is 60, none before'],
      [false, 'only a restart takes up time_zone'],
    ],
  ],
  [
    'a default field, a description and an alias',
    '    passthrough: [my_field]\n',
    '    passthrough: [my_field]\n    default: { stop: [x] }\n    description: It is.\n  fast: { alias: small }\n',
    [
      [false, 'model small: description is It is., none before'],
      [false, 'model small at here: default.stop has x now'],
      [false, 'alias fast of model small is new'],
    ],
  ],
  [
    'a narrower sign_in.allow, which diff called nothing',
    '[ada@example.org, eve@example.com]',
    "['@example.org']",
    [
      [
        true,
        'sign_in.allow no longer has ada@example.org, eve@example.com, ' +
          'has @example.org now, so that eve@example.com cannot sign in',
      ],
    ],
  ],
  [
    'a wider sign_in.allow, by which nobody loses anything',
    '[ada@example.org, eve@example.com]',
    "['*']",
    [[false, 'sign_in.allow no longer has ada@example.org, eve@example.com, has * now']],
  ],
  [
    'another key of a provider, whose value stays secret',
    "9000/v1', api_key: '${KEY}'",
    "9000/v1', api_key: sk-literal-1234567890",
    [[false, 'provider here: headers.authorization changes']],
  ],
];

const SIGN_IN = `sign_in:
  providers: { work: { issuer: 'https://id.example', client_id: a, client_secret: b } }
  allow: [ada@example.org, eve@example.com]
`;

describe('the differences of two configurations', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'tollgate-diff-'))));
  after(() => rm(folder, { recursive: true }));

  const read = async (yaml: string): Promise<Configuration> => {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, yaml);
    const { configuration, faults } = await check(file, undefined);
    if (!configuration) throw new Error(JSON.stringify(faults));
    return configuration;
  };

  for (const [title, from, to, told] of ONCE_SILENT) {
    it(`tell of ${title}`, async () => {
      const yaml = BASE + SIGN_IN;
      expect(yaml).to.include(from);
      const found = await differences(await read(yaml), await read(yaml.replace(from, to)));
      expect(found.map(({ loses, text }) => [loses, text])).to.deep.equal(told);
    });
  }

  it('tell of a fallback model and of an alias that are gone, which clients lose', async () => {
    const small = BASE.replace('price: free', 'price: free\n    limits: { max_tokens: 4000 }');
    const large = small.replace('price: free', 'price: free\n    fallback: [small]');
    const found = await differences(
      await read(`${large}  fast: { alias: small }\n`),
      await read(small),
    );
    expect(found.map(({ loses, text }) => [loses, text])).to.deep.equal([
      [true, 'model second: fallback no longer has small'],
      [true, 'alias fast is gone'],
    ]);
  });

  it('of a reload show no text of the file, in which a variable may stand', async () => {
    const next = BASE.replace(
      '{ provider: here, model: one }',
      '{ provider: here, model: one, set: { user: ada } }',
    );
    const found = await differences(await read(BASE), await read(next), { isReload: true });
    expect(found).to.deep.equal([{ loses: true, text: 'model small at here: set.user changes' }]);
  });

  it('tell of a margin to clients, and of another list price and discount to the operator', async () => {
    const file = BASE.replace(
      'price: { input_per_million: 1.00, output_per_million: 2.00 }',
      'price: { list: +10% }',
    )
      .replace('model: one', 'model: gpt-4o-mini')
      .replace("base_url: 'http://127.0.0.1:9000/v1', ", '');
    const told = async (old: string, now: string): Promise<string[]> =>
      (await differences(await read(old), await read(now))).map(({ text }) => text);
    const raised = file.replace('+10%', '+20%');
    expect(await told(file, raised)).to.include(
      'model small: input_per_million up by 9.09 %, from 0.165 to 0.18',
    );
    expect((await told(file, raised)).join()).not.to.include('operator');
    const own = BASE.replace("9000/v1',", "9000/v1', discount: 10%,");
    const dearer = await told(own, own.replace('1.00', '2.00'));
    expect(dearer.filter((text) => text.includes('input_per_million'))).to.deep.equal([
      'model small: input_per_million up by 100 %, from 1.00 to 2.00',
      'for the operator alone, model small at here: input_per_million up by 100 %, from 0.90 to 1.80',
    ]);
    const discounted = file.replace("api_key: '", "discount: 10%, api_key: '");
    const texts = await told(file, discounted);
    expect(texts).to.include(
      'for the operator alone, model small at here: input_per_million down by 10 %, from 0.15 to 0.135',
    );
    for (const text of texts) expect(text).to.match(/^for the operator alone, /u);
  });

  it('are told of each single value that differs, also of a key that has no sentence', async () => {
    const file = `${BASE}sign_in:
  providers: { work: { issuer: 'https://id.example', client_id: a, client_secret: b } }
  allow: ['@example.org']
  operators: [ada@example.org]
trusted_proxies: [10.0.0.0/8]
first_start: { account: ann, credit: 1.00 }
`
      .replace(
        '{ provider: here, model: one }',
        '{ provider: here, model: one, set: { top_k: 3 }, drop: [user], rename: { stop: ends } }',
      )
      .replace("9000/v1',", "9000/v1', discount: 10%,");
    const whole = await read(file);
    const settings = { ...whole, models: new Map(), endpoints: whole.endpoints.slice(0, 2) };
    const silent: string[] = [];
    const tryEach = async (
      all: Configuration,
      parts: readonly { path: string; value: unknown }[],
    ) => {
      for (const { path, value } of parts) {
        const found = await differences(all, value as Configuration);
        if (found.length === 0) silent.push(path);
      }
    };
    await tryEach(settings, [...changedEach(settings, '')]);
    for (const id of ['small', 'clip', 'still']) {
      const models = new Map([...whole.models].filter(([name]) => name === id));
      const parts = [...changedEach(models, '/models')];
      const all = { ...whole, models };
      await tryEach(
        all,
        parts.map(({ path, value }) => ({ path, value: { ...all, models: value } })),
      );
    }
    expect(silent).to.deep.equal([]);
  });

  it('are none where nothing changes', async () => {
    expect(await differences(await read(BASE), await read(BASE))).to.deep.equal([]);
  });

  for (const [title, from, to, told, loses] of PAIRS) {
    it(`tell of ${title}`, async () => {
      expect(BASE).to.include(from);
      const found = await differences(await read(BASE), await read(BASE.replace(from, to)));
      for (const sentence of told) {
        expect(found.map(({ text }) => text).join('\n')).to.include(sentence);
      }
      expect(found.some((one) => one.loses)).to.equal(loses);
    });
  }

  it('tell of an output limit of the whole gateway only where a model makes text', async () => {
    const found = await differences(
      await read(BASE),
      await read(`limits: { default_max_tokens: 100 }\n${BASE}`),
    );
    const told = found.map(({ text }) => text).filter((text) => text.includes('default_max'));
    expect(told).to.deep.equal([
      'model small: the limit default_max_tokens is 100, none before',
      'model second: the limit default_max_tokens is 100, none before',
    ]);
  });

  it('do not take the same database in another form for another store', async () => {
    const store = (text: string) => BASE.replace('owners:', `store: ${text}\nowners:`);
    const url = 'postgres://gate@db/gate';
    const plain = await read(store(url));
    expect(await differences(plain, await read(store(`{ url: '${url}' }`)))).to.deep.equal([]);
    const larger = await read(store(`{ url: '${url}', pool: { connections: 40 } }`));
    expect((await differences(plain, larger)).map(({ text }) => text)).to.deep.equal([
      'only a restart takes up store',
    ]);
  });

  it('of a reload name no address, and of what only a restart takes up the keys', async () => {
    const next = BASE.replace('owners:', 'store: sqlite:other.db\nowners:').replace('9001', '9002');
    const found = await differences(await read(BASE), await read(next), { isReload: true });
    expect(found.map(({ text }) => text)).to.deep.equal([
      'provider there: its address is another one',
      'only a restart takes up store, journal',
    ]);
  });

  it('tell of what is new, and clients lose nothing', async () => {
    const large = BASE.slice(0, BASE.indexOf('  clip:'));
    const small = BASE.slice(0, BASE.indexOf('  second:'));
    const found = await differences(await read(small), await read(large));
    expect(found).to.deep.equal([{ loses: false, text: 'model second is new' }]);
  });
});
