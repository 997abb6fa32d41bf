import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Configuration } from '../../../src/core/configuration.js';
import { load } from '../../../src/config/load.js';
import { configurationSections } from '../../../src/dashboard/views/configuration-yaml.js';
import { formatDuration, formatSize } from '../../../src/dashboard/views/config-units.js';
import { MODALITIES } from '../../../src/modalities/index.js';
import { DASHBOARD_YAML } from '../../helpers/dashboard.js';

const OWN_YAML = `
listen: 127.0.0.1:8080
public_url: http://127.0.0.1:8080
store: sqlite:a.db
drain: 90s
trusted_proxies: [10.0.0.0/8]
first_start: { account: demo, credit: 10.00 }
limits: { body: 5mb, fetch_bytes: 1500b, drain: 250ms, keys: 7 }
${DASHBOARD_YAML.replace(/settings: \{[^}]*\}, /u, '')}
  by-size:
    owner: openai
    capabilities: [image]
    upstreams: [{ provider: simulator, model: other, drop: [style] }]
    limits: { images: 4 }
    price: { per_image: { standard: { 1024x1024: 0.04, 1536x1024: 0.06 }, hd: 0.000000001 } }
  short-video:
    owner: google
    capabilities: [video]
    upstreams: [{ provider: simulator, price: { per_video_second: 0.01 } }]
    limits: { duration_seconds: 4, resolutions: [720p] }
    price: { per_video_second: 0.02 }
`;

const SECRETS = `
listen: 127.0.0.1:8080
store: postgres://planted-1:planted-2@db.example.org:6432/tollgate?password=planted-3
sign_in:
  providers: { google: { issuer: https://accounts.google.com, client_id: me, client_secret: planted-4 } }
  allow: ['@example.org']
owners: { me: { name: Me } }
providers:
  keyed: { uses: openai, api_key: planted-6, base_url: https://api.example.org/planted-7/v1, headers: { x-team: planted-8 } }
models:
  one:
    owner: me
    capabilities: [chat]
    upstreams: [{ provider: keyed, set: { metadata: { token: planted-12 } } }]
    price: free
endpoints:
  chat:
    at: POST /v1/chat/completions
    stages: [auth, ./mask.js: { key: planted-13 }, validate: chat-completion, route: { capability: chat }, balance, transform: chat, meter]
`;

describe('the configuration in the words of the file', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-words-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function loaded(text: string): Promise<Configuration> {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, text);
    const { configuration, faults } = await load(file, {}, MODALITIES);
    if (!configuration) throw new Error(JSON.stringify(faults, null, 1));
    return configuration;
  }

  function textOf(configuration: Configuration): string {
    return configurationSections(configuration)
      .map(({ text }) => `${text}\n`)
      .join('');
  }

  it('says durations, sizes and prices as the file does', async () => {
    const text = textOf(await loaded(OWN_YAML));
    expect(text).to.include('\ndrain: 90s\n').and.to.include('  body: 5mb\n');
    expect(text).to.include('fetch_bytes: 1500b').and.to.include('drain: 250ms');
    expect(text).to.include('price: { input_per_million: 0.15, output_per_million: 0.6 }');
  });

  it('can be pasted, and is the same configuration then', async () => {
    const first = await loaded(OWN_YAML);
    const text = textOf(first);
    const second = await loaded(text);
    expect(textOf(second)).to.equal(text);
    const { limits, sign_in, requests, drain_ms, first_start, listen, store, owners } = first;
    expect(second).to.deep.include({ limits, sign_in, requests, drain_ms, first_start });
    expect(second).to.deep.include({ listen, store, owners });
    for (const [id, model] of first.models) {
      const { price, limits: bounds, capabilities, created } = model;
      expect(second.models.get(id), id).to.deep.include({ price, capabilities, created });
      expect(second.models.get(id)?.limits, id).to.deep.equal(bounds);
    }
  });

  it('holds no secret, and says which it leaves out', async () => {
    const text = textOf(await loaded(SECRETS));
    expect(text).not.to.include('planted');
    expect(text).to.include('store: postgres://db.example.org:6432/tollgate\n');
    expect(text).to.include('# not shown: client_secret');
    expect(text).to.match(/# not shown: header authorization, header x-team, base_url at https:/u);
    expect(text).to.include('# not shown: set metadata');
    expect(text).to.include('# not shown: the options of ./mask.js');
  });

  it('takes the largest unit of which a value is a whole number', () => {
    const durations = [0, 1, 1500, 90_000, 60_000, 7_200_000, 2_592_000_000].map(formatDuration);
    expect(durations).to.deep.equal(['0ms', '1ms', '1500ms', '90s', '1m', '2h', '30d']);
    expect([0, 1500, 65_536, 20_971_520].map(formatSize)).to.deep.equal([
      '0b',
      '1500b',
      '64kb',
      '20mb',
    ]);
  });
});
