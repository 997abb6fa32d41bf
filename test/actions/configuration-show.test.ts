import { expect } from 'chai';
import { STORE_DEFAULTS } from '../../src/core/store-place.js';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from '../../src/config/load.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { configurationShape } from '../../src/actions/configuration-show.js';
import { expectAnswer } from '../dashboard/api/helpers/answers.js';

/** Every place of the file in which a secret can stand has one, and each is another. */
const YAML = `
listen: 127.0.0.1:8080
public_url: https://ai.example.org
store: postgres://user-planted-1:pass-planted-2@db.example.org:6432/tollgate?password=planted-3
trusted_proxies: [10.0.0.0/8]
sign_in:
  providers:
    google: { issuer: https://accounts.google.com, client_id: me, client_secret: planted-4 }
    hub: { kind: github, client_id: me-too, client_secret: "\${SECRET}" }
  allow: ["@example.org"]
  operators: [ada@example.org]
owners: { me: { name: Me } }
providers:
  keyed:
    uses: openai
    api_key: planted-6
    discount: 20%
    base_url: https://api.example.org/tenants/planted-7/v1
    headers: { x-team: planted-8, cookie: planted-9 }
  cloud: { uses: vertex, service_account: '\${file:key.json}', token_url: https://sts.example.org/planted-10, base_url: https://cloud.example.org/v1 }
  simulator: { settings: { video_takes: planted-11, tokens_per_second: 50 } }
models:
  one:
    owner: me
    capabilities: [chat]
    upstreams:
      - { provider: keyed, model: m-1, weight: 2, set: { metadata: { token: planted-12 } }, drop: [logit_bias] }
      - { provider: simulator, weight: 1 }
    fallback: [three]
    price: { input_per_million: 0.15, output_per_million: 0.6 }
  two: { owner: me, capabilities: [image], upstreams: [{ provider: cloud }], price: { per_image: { standard: 0.04, hd: 0.08 } } }
  three: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }
endpoints:
  chat:
    at: POST /v1/chat/completions
    stages: [auth, ./mask.js: { key: planted-13 }, validate: chat-completion, route: { capability: chat }, balance, transform: chat, meter]
`;

describe('the configuration that operators see', () => {
  let folder: string;
  let shape: Record<string, Record<string, unknown>>;
  let text: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-shape-'));
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const key = { client_email: 'planted-14@example.org', private_key };
    await writeFile(join(folder, 'key.json'), JSON.stringify(key));
    await writeFile(join(folder, 'gateway.yaml'), YAML);
    const file = join(folder, 'gateway.yaml');
    const { configuration, faults } = await load(file, { SECRET: 'planted-5' }, MODALITIES);
    if (!configuration) throw new Error(JSON.stringify(faults, null, 1));
    text = JSON.stringify(configurationShape(configuration));
    shape = JSON.parse(text) as typeof shape;
  });
  after(() => rm(folder, { recursive: true }));

  it('holds no secret, wherever one stands in the file', () => {
    expect(text).not.to.include('planted');
    expect(text).not.to.include('PRIVATE KEY').and.not.to.include('private_key');
    expect(text).not.to.include('Bearer');
  });

  it('is what its description says', () => {
    expectAnswer('Configuration', shape);
  });

  it('says where the records are, and not how they are opened', () => {
    expect(shape.store).to.deep.equal({
      kind: 'postgres',
      host: 'db.example.org:6432',
      database: 'tollgate',
      ...STORE_DEFAULTS,
    });
  });

  it('says of a provider what is set, not what it is set to', () => {
    expect(shape.providers?.keyed).to.deep.include({
      uses: 'openai',
      origin: 'https://api.example.org',
      serves: ['chat', 'image', 'embedding', 'speech', 'transcription', 'moderation'],
      headers: ['authorization', 'x-team', 'cookie'],
      service_account: false,
      on_abort: 'abort',
    });
    expect(shape.providers?.cloud).to.include({ service_account: true });
    expect(shape.providers?.simulator).to.deep.include({
      origin: null,
      settings: ['video_takes', 'tokens_per_second'],
    });
  });

  it('says what models cost, and where their calls go', () => {
    expect(shape.models?.one).to.deep.include({
      owner: 'me',
      capabilities: ['chat'],
      price: { input_per_million: '0.15', output_per_million: '0.60' },
      fallback: ['three'],
    });
    expect(shape)
      .to.have.nested.property('models.one.upstreams[0]')
      .that.deep.includes({
        provider: 'keyed',
        model: 'm-1',
        weight: 2,
        set: ['metadata'],
        drop: ['logit_bias', 'metadata'],
        price: { input_per_million: '0.15', output_per_million: '0.60' },
        cost: { input_per_million: '0.12', output_per_million: '0.48' },
      });
    expect(shape.models?.two).to.deep.include({
      price: { per_image: { standard: '0.04', hd: '0.08' } },
    });
    expect(shape.models?.three).to.include({ price: 'free' });
  });

  it('says who may come in, and by which providers', () => {
    expect(shape.sign_in).to.deep.include({
      allow: ['@example.org'],
      operators: ['ada@example.org'],
      credit: '0.00',
    });
    const { providers } = shape.sign_in as { providers: Record<string, object> };
    expect(providers.hub).to.include({ kind: 'github', client_id: 'me-too' });
    expect(providers.google).to.include({ issuer: 'https://accounts.google.com' });
  });

  it('says which stages an endpoint has, with the options of ours alone', () => {
    expect(shape.endpoints?.chat).to.deep.equal({
      at: 'POST /v1/chat/completions',
      stages: [
        'auth',
        './mask.js',
        { validate: 'chat-completion' },
        { route: { capability: 'chat' } },
        'balance',
        { transform: 'chat' },
        'meter',
      ],
    });
  });
});
