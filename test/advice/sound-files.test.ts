import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '../../src/gateway/check.js';
import { format } from '../../src/yaml/format.js';

const PRICES = new URL('../../providers/prices/list.json', import.meta.url);

interface Sound {
  about: string;
  /** Entries of `providers`. */
  providers: string;
  /** Each model as `ID: BLOCK`, without owner. */
  models: readonly string[];
  settings?: string;
}

const chat = (id: string, upstreams: string, rest: string): string =>
  `${id}: { capabilities: [chat], upstreams: [${upstreams}], ${rest} }`;

const OPENAI = "openai: { api_key: '${OPENAI_API_KEY}' }";
const LISTED: Readonly<Record<string, string>> = {
  openai: OPENAI,
  anthropic: "anthropic: { api_key: '${ANTHROPIC_API_KEY}' }",
  mistral: "mistral: { api_key: '${MISTRAL_API_KEY}' }",
  groq: "groq: { api_key: '${GROQ_API_KEY}' }",
  deepseek: "deepseek: { api_key: '${DEEPSEEK_API_KEY}' }",
  gemini: "gemini: { api_key: '${GEMINI_API_KEY}' }",
};

/** Models for chat at their list price, of some providers, until there are as many as asked for. */
async function listed(manifests: readonly string[], count: number): Promise<string[]> {
  const { lists } = JSON.parse(await readFile(PRICES, 'utf8')) as {
    lists: Record<string, { models: Record<string, Record<string, unknown>> }>;
  };
  const all = manifests.flatMap((manifest) =>
    Object.entries(lists[manifest]?.models ?? {})
      .filter(([id, units]) => units.output_per_million && !/image|audio|embed|tts/.test(id))
      .map(([id]) => chat(`'${id}'`, `{ provider: ${manifest} }`, 'price: list')),
  );
  return [...new Set(all)].slice(0, count);
}

const SOUND: readonly Sound[] = [
  {
    about: 'the simulator',
    providers: 'simulator: {}',
    models: [chat('sim', '{ provider: simulator }', 'price: free')],
  },
  {
    about: 'a model at its list price',
    providers: OPENAI,
    models: [chat('gpt-4o-mini', '{ provider: openai }', 'price: list')],
  },
  {
    about: 'prices of the operator, a little above the list',
    providers: OPENAI,
    models: [
      chat(
        'gpt-4o-mini',
        '{ provider: openai }',
        'price: { input_per_million: 0.18, cached_input_per_million: 0.09, output_per_million: 0.72 }',
      ),
    ],
  },
  {
    about: 'a server of the operator, for people of the house',
    providers: 'lab: { uses: vllm, base_url: http://10.0.0.5:8000/v1 }',
    models: [chat('llama', '{ provider: lab, model: llama-3.3-70b }', 'price: free')],
  },
  {
    about: 'a server on this machine',
    providers: 'ollama: {}',
    models: [chat('qwen3', "{ provider: ollama, model: 'qwen3:8b' }", 'price: free')],
  },
  {
    about: 'a model of the cloud behind a server of the operator',
    providers: `lab: { uses: vllm, base_url: http://10.0.0.5:8000/v1 }\n  ${OPENAI}`,
    models: [
      chat(
        'small',
        '{ provider: lab, model: qwen3-8b }, { provider: openai, model: gpt-4o-mini }',
        'price: { input_per_million: 0.15, output_per_million: 0.60 }',
      ),
    ],
  },
  {
    about: 'two providers that share the load',
    providers: `${OPENAI}\n  second: { uses: openai, api_key: '\${OTHER_KEY}' }`,
    models: [
      chat(
        'gpt-4o',
        '{ provider: openai, weight: 3 }, { provider: second, weight: 1 }',
        'price: list',
      ),
    ],
  },
  {
    about: 'deployments of Azure under names of their own',
    providers: "azure: { resource: our-house, api_key: '${AZURE_API_KEY}' }",
    models: [
      chat(
        'gpt-4o',
        '{ provider: azure, model: our-4o }',
        'price: { input_per_million: 2.50, cached_input_per_million: 1.25, output_per_million: 10.00 }',
      ),
    ],
  },
  {
    about: 'a gateway that sells at a fifth, and means it',
    providers: OPENAI,
    models: [
      chat(
        'gpt-4o',
        '{ provider: openai }',
        `
    # tollgate: allow price_off_list: our contract has a fifth of the list
    price: { input_per_million: 0.50, cached_input_per_million: 0.25, output_per_million: 2.00 }
  `,
      ),
    ],
  },
  {
    about: 'a gift of the house, and it is meant',
    providers: OPENAI,
    models: [
      'gpt-4o-mini: { capabilities: [chat], upstreams: [{ provider: openai }], price: free } # tollgate: allow price_off_list',
      chat('gpt-4o', '{ provider: openai }', 'price: list'),
    ],
  },
  {
    about: 'limits that a gateway of texts means',
    providers: 'simulator: {}',
    settings: 'limits: { body: 64kb } # tollgate: allow small_limit: no one sends images here',
    models: [chat('sim', '{ provider: simulator }', 'price: free')],
  },
  {
    about: 'a container behind a proxy, with metrics for a scraper',
    providers: OPENAI,
    settings: `listen: 0.0.0.0:8080
public_url: https://ai.example.org
trusted_proxies: [10.0.0.0/8]
metrics: 0.0.0.0:9464 # tollgate: allow metrics_public: only the pod's network reaches it`,
    models: [chat('gpt-4o-mini', '{ provider: openai }', 'price: list')],
  },
  {
    about: 'people who sign in, with a credit for those of the house',
    providers: OPENAI,
    settings: `public_url: https://ai.example.org
sign_in:
  allow: ['@example.org']
  operators: [ada@example.org]
  credit: 5.00
  providers:
    google: { issuer: https://accounts.google.com, client_id: id, client_secret: '\${GOOGLE_SECRET}' }`,
    models: [chat('gpt-4o-mini', '{ provider: openai }', 'price: list')],
  },
  {
    about: 'a filter for all endpoints',
    providers: OPENAI,
    settings: "endpoints: { '*': { after: { validate: [mask: { patterns: [email] }] } } }",
    models: [chat('gpt-4o-mini', '{ provider: openai }', 'price: list')],
  },
  {
    about: 'tools that the upstream charges for, which the price covers',
    providers: OPENAI,
    models: [
      `gpt-4o:
    capabilities: [chat, tools]
    upstreams: [{ provider: openai }]
    tool_types: [web_search] # tollgate: allow unpriced_tool
    price: { input_per_million: 3.50, cached_input_per_million: 1.75, output_per_million: 14.00 }`,
    ],
  },
  {
    about: 'embeddings',
    providers: OPENAI,
    models: [
      'text-embedding-3-small: { capabilities: [embedding], upstreams: [{ provider: openai }], price: list }',
    ],
  },
  {
    about: 'images, speech and transcriptions',
    providers: OPENAI,
    models: [
      'gpt-image-1: { capabilities: [image], upstreams: [{ provider: openai }], price: { per_image: { low: 0.02, standard: 0.05, hd: 0.20 } } }',
      'tts-1: { capabilities: [speech], upstreams: [{ provider: openai }], price: { per_million_characters: 15.00 } }',
      'whisper-1: { capabilities: [transcription], upstreams: [{ provider: openai }], price: { per_audio_minute: 0.006 } }',
    ],
  },
  { about: 'ten models of one provider', providers: OPENAI, models: await listed(['openai'], 10) },
  {
    about: 'thirty models of four providers',
    providers: ['openai', 'anthropic', 'mistral', 'groq'].map((one) => LISTED[one]).join('\n  '),
    models: await listed(['groq', 'anthropic', 'mistral', 'openai'], 30),
  },
  {
    about: 'sixty models of six providers',
    providers: Object.values(LISTED).join('\n  '),
    models: await listed(['deepseek', 'groq', 'gemini', 'anthropic', 'mistral', 'openai'], 60),
  },
];

describe('check --strict', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-sound-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('knows twenty sound files, of one to sixty models', () => {
    expect(SOUND).to.have.length(20);
    const sizes = SOUND.map(({ models }) => models.length);
    expect([Math.min(...sizes), Math.max(...sizes)]).to.deep.equal([1, 60]);
  });

  for (const { about, providers, models, settings = '' } of SOUND) {
    it(`passes ${about}`, async () => {
      const owned = models.map((model) =>
        model.replace(/: \{|:\n/, (start) => {
          return start === ':\n' ? ':\n    owner: us\n' : ': { owner: us,';
        }),
      );
      const file = join(folder, 'gateway.yaml');
      const blocks = `owners: { us: { name: Us } }\nproviders:\n  ${providers}`;
      await writeFile(file, `${settings}\n${blocks}\nmodels:\n  ${owned.join('\n  ')}\n`);
      const { faults, configuration } = await check(file, undefined);
      expect(format(faults, 'text')).to.equal('');
      expect(configuration?.models.size).to.equal(models.length);
    });
  }
});
