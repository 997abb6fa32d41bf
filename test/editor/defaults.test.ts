import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { load, type Loaded } from '../../src/config/load.js';
import type { Configuration } from '../../src/core/configuration.js';
import type { Model, Upstream } from '../../src/core/model.js';
import { DEFAULT_TOOL_CALLS } from '../../src/modalities/chat/hosted-tools.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { isVideoCodec } from '../../src/modalities/video/codec.js';
import { format } from '../../src/yaml/format.js';
import { keysOf, readSchema, WRITTEN } from './schema-keys.js';

/** A file with every block and no key that has a default. Keys of other kinds are taken out. */
const TOKENS = { input_per_million: 1, output_per_million: 1 };

const GATEWAY = {
  store: { url: 'postgres://gate@db.example.com/gate', pool: {}, timeout: {} },
  limits: {},
  requests: {},
  headers: {},
  traces: { otlp: 'http://127.0.0.1:4318/v1/traces' },
  log: {},
  first_start: { account: 'demo' },
  sign_in: {
    providers: {
      open: { issuer: 'https://id.example.com', client_id: 'me' },
      hub: { kind: 'github', client_id: 'me', client_secret: 'secret' },
    },
    allow: ['*'],
    session: {},
  },
  owners: { me: { name: 'Me' } },
  providers: {
    coded: { uses: './coded.yaml', api_key: 'key', timeout: {} },
    templates: { uses: './templates.yaml', timeout: {} },
    // Its manifest says another thing than the default of manifests.
    simulator: { timeout: {}, settings: {}, on_abort: 'abort' },
  },
  models: {
    image: { ...model('simulator', ['image']), price: { per_image: 0.01 }, limits: {} },
    video: { ...model('simulator', ['video']), limits: {} },
    coded: model('coded', ['chat', 'image', 'video']),
    night: {
      ...model('simulator', ['chat']),
      price: { ...TOKENS, off_peak: { from: '16:30', to: '00:30', ...TOKENS } },
    },
    templates: model('templates', ['image', 'video']),
  },
};

const CODED = {
  name: 'Coded',
  base_url: 'https://api.example.com/v1',
  auth: { header: 'x-key' },
  operations: {
    chat: { path: '/chat', codec: 'openai' },
    image: { path: '/images', codec: 'openai-image' },
    video: { codec: 'vertex' },
  },
  timeout: {},
  hidden_tokens: {},
};

const TEMPLATES = {
  name: 'Templates',
  base_url: 'https://api.example.com/v1',
  operations: {
    image: {
      path: '/images',
      request: { prompt: '$.prompt' },
      response: { images: { each: '$.images', do: { url: '$' } } },
    },
    'video.submit': {
      path: '/videos',
      request: { prompt: '$.prompt' },
      response: { state: { id: '$.id' } },
    },
    'video.status': {
      path: '/videos/{$.id}',
      response: { status: '$.status', videos: { each: '$.videos', do: { url: '$' } } },
    },
    'video.cancel': { path: '/videos/{$.id}/cancel' },
    'video.content': {},
  },
  timeout: {},
};

/** Defaults that only one kind of identity provider has. */
const FOREIGN: readonly [string, string][] = [
  ['open', 'base_url'],
  ['open', 'api_url'],
  ['hub', 'trust_email'],
];

function model(provider: string, capabilities: string[]): object {
  return { owner: 'me', capabilities, upstreams: [{ provider }], price: 'free', created: 1 };
}

/** The file with each default of its schema written out; `filled` counts them. */
function withDefaults<T extends object>(name: string, file: T): { file: T; filled: Set<string> } {
  const ajv = new Ajv2020({
    useDefaults: true,
    allowUnionTypes: true,
    keywords: ['patternErrorMessage', 'enumDescriptions', 'defaultSnippets', 'x-type'],
  });
  const full = structuredClone(file);
  if (!ajv.validate(readSchema(name), full)) throw new Error(ajv.errorsText());
  return { file: full, filled: keysIn(full) };
}

function keysIn(value: unknown): Set<string> {
  if (typeof value !== 'object' || value === null) return new Set();
  return new Set(Object.entries(value).flatMap(([key, part]) => [key, ...keysIn(part)]));
}

describe('the defaults of the schemas', () => {
  let folder: string;
  let bare: Configuration;
  let full: Configuration;
  let full_manifests: Configuration;
  const gateway = withDefaults('gateway', GATEWAY);
  const coded = withDefaults('provider', CODED);
  const templates = withDefaults('provider', TEMPLATES);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-defaults-'));
    const people: Record<string, Record<string, unknown>> = gateway.file.sign_in.providers;
    for (const [name, key] of FOREIGN) delete people[name]?.[key];
    bare = await sound(GATEWAY, CODED, TEMPLATES);
    full_manifests = await sound(GATEWAY, coded.file, templates.file);
    full = await sound(gateway.file, CODED, TEMPLATES);
  });
  after(() => rm(folder, { recursive: true }));

  async function loaded(...files: [object, object, object]): Promise<Loaded> {
    for (const [i, name] of ['gateway', 'coded', 'templates'].entries()) {
      // JSON is YAML too.
      await writeFile(join(folder, `${name}.yaml`), JSON.stringify(files[i]));
    }
    return load(join(folder, 'gateway.yaml'), {}, MODALITIES);
  }

  async function sound(...files: [object, object, object]): Promise<Configuration> {
    const { configuration, faults } = await loaded(...files);
    if (!configuration) throw new Error(format(faults, 'text'));
    return configuration;
  }

  it('are all written out in the second files', () => {
    const written = new Set([gateway, coded, templates].flatMap(({ filled }) => [...filled]));
    const missing = WRITTEN.flatMap((name) => keysOf(readSchema(name)))
      .filter(({ schema }) => 'default' in schema)
      .filter(({ name }) => !written.has(name.split('/').at(-1) ?? ''));
    const names = missing.map(({ name }) => name);
    expect(names, 'keys whose block GATEWAY, CODED or TEMPLATES still has to have').to.deep.equal(
      [],
    );
    expect(written.size).to.be.greaterThan(60);
  });

  it('are what the gateway takes where gateway.yaml does not say', () => {
    expect(comparable(full)).to.deep.equal(comparable(bare));
  });

  it('are what the gateway takes where a manifest does not say', () => {
    expect(comparable(full_manifests)).to.deep.equal(comparable(bare));
  });

  it('are what a manifest asks for where it does not say whether it needs a key', async () => {
    const { coded: entry, ...others } = GATEWAY.providers;
    const { api_key: _, ...keyless } = entry;
    const file = { ...GATEWAY, providers: { ...others, coded: keyless } };
    const codes = async (manifest: object): Promise<string[]> =>
      (await loaded(file, manifest, TEMPLATES)).faults.map(({ code }) => code);
    expect(await codes(CODED)).to.deep.equal(['missing_api_key']);
    expect(await codes(coded.file)).to.deep.equal(['missing_api_key']);
  });

  it('are what a request for images may ask where the model does not say', () => {
    const bodies = [{ n: 10 }, { n: 11 }, { size: '2048x1024' }, { size: '2048x1040' }];
    const answers = bodies.map((body) => outcomes('image', 'image-generation', body));
    for (const [one, other] of answers) expect(other).to.equal(one);
    const refused = answers.map(([one]) => one !== 'taken');
    expect(refused).to.deep.equal([false, true, false, true]);
  });

  it('are how many calls of tools a hold covers where the model does not say', () => {
    expect(full.models.get('image')?.limits.tool_calls).to.equal(DEFAULT_TOOL_CALLS);
  });

  it('are what a request for videos may ask where the model does not say', () => {
    const bodies = [{ sample_count: 4 }, { duration_seconds: 8 }, { resolution: '4k' }, {}];
    const answers = bodies.map((parameters) =>
      outcomes('video', 'video-submission', { parameters }),
    );
    expect(answers).to.deep.equal(bodies.map(() => ['taken', 'taken']));
    const held = [bare, full].map((one) => one.models.get('video')?.limits.video?.duration_seconds);
    expect(held).to.deep.equal([undefined, 8]);
  });

  it('are what templates of videos do where the manifest does not say', () => {
    const acts = [bare, full_manifests].map((configuration) => {
      const upstream = configuration.models.get('templates')?.upstreams[0] as Upstream;
      const codec = upstream.provider.operations.get('video')?.codec;
      if (!isVideoCodec(codec)) throw new Error('no codec of videos');
      const body = { status: 'COMPLETED', videos: ['https://files.example.com/1'] };
      return [
        codec.cancel?.({ id: '1' }, upstream),
        codec.polled({ status: 200, body }, { id: '1' }, upstream),
      ];
    });
    expect(acts[1]).to.deep.equal(acts[0]);
    expect(acts[0]?.[0]).to.include({ method: 'POST' });
    expect(JSON.stringify(acts[0]?.[1])).to.include('"credentials":false');
  });

  /** What becomes of a request under either configuration. */
  function outcomes(kind: string, request_format: string, fields: object): string[] {
    const modality = [...MODALITIES.values()].find(({ name }) => name === kind);
    return [bare, full].map((configuration) => {
      const found = configuration.models.get(kind) as Model;
      const body = { model: kind, prompt: 'A lighthouse', ...fields };
      try {
        modality?.plan({ format: request_format, body, headers: {} }, found);
        return 'taken';
      } catch (error) {
        return String(error);
      }
    });
  }
});

/** A configuration without what is made anew at each load, and limits that requests are read by. */
function comparable({ providers, models, ...rest }: Configuration): object {
  return {
    ...rest,
    endpoints: rest.endpoints.length,
    providers: [...providers.values()].map(({ operations, ...provider }) => ({
      ...provider,
      manifest_digest: undefined,
      operations: [...operations].map(([name, operation]) => ({
        name,
        ...operation,
        codec: typeof operation.codec,
      })),
    })),
    models: [...models.values()].map(({ upstreams, limits, ...own }) => ({
      ...own,
      limits: { ...limits, images: 0, image_pixels: 0, tool_calls: 0, video: undefined },
      upstreams: upstreams.map(({ provider, ...upstream }) => ({ ...upstream, by: provider.name })),
    })),
  };
}
