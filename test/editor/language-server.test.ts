import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { LanguageServer } from '../helpers/language-server.js';
import { keysOf, readSchema } from './schema-keys.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FIXTURES = join(ROOT, 'test/fixtures/config');

/** Where a file may stand, and what its first line says there. */
const PLACES = {
  checkout: './schemas/gateway.schema.json',
  installed: './node_modules/tollgate/schemas/gateway.schema.json',
  'a folder with a saved copy': './gateway.schema.json',
};

/** Every block once. `<NAME>` marks a place that a test asks about. */
const FILE = `<include>include: [models/*.yaml]
<listen>listen: 127.0.0.1:8080
<public_url>public_url: http://127.0.0.1:8080
<store>store: sqlite:data/tollgate.db
<journal>journal: data/journal
<time_zone>time_zone: Europe/Zurich
<drain>drain: 30s
<drain_delay>drain_delay: 5s
<keep_alive>keep_alive: 15s
<limits>limits:
  <limits/body>body: 20mb
  <limits/keys>keys: 100
<rates>rates:
  <rateLimits/key>key:
    <rates/requests_per_minute>requests_per_minute: 60
<requests>requests:
  <requests/keep>keep: 30d
<log>log:
  <log/level>level: info
<headers>headers:
  <headers/cost>cost: true
<metrics>metrics: 127.0.0.1:9464
<traces>traces:
  <traces/otlp>otlp: http://127.0.0.1:4318/v1/traces
<alerts>alerts:
  <alerts/webhook>webhook: https://hooks.example.com/tollgate
  <alerts/secret>secret: 0123456789abcdef
<first_start>first_start:
  <first_start/account>account: demo
<dashboard>dashboard: true
<sign_in>sign_in:
  <signIn/providers>providers:
    google:
      <identityProvider/issuer>issuer: https://accounts.google.com
      <identityProvider/client_id>client_id: ID
  <signIn/allow>allow: ['*']
  <signIn/session>session:
    <signIn/session/idle>idle: 12h
<trusted_proxies>trusted_proxies: [10.0.0.0/8]
<cors>cors: ['*']
<defaults>defaults:
  <defaults/retry>retry:
    <retry/attempts>attempts: 1
<owners>owners:
  me: { <owner/name>name: Me }
<providers>providers:
  lab:
    <provider/uses>uses: vllm
    <provider/base_url>base_url: http://10.0.0.5:8000/v1
    <provider/timeout>timeout:
      <timeout/first_byte>first_byte: 60s
<models>models:
  small:
    <model/owner>owner: me
    <model/capabilities>capabilities: [<chat>chat]
    <model/upstreams>upstreams:
      - <upstream/provider>provider: lab
        <upstream/weight>weight: \${WEIGHT}
    <model/limits>limits:
      <model/limits/max_tokens>max_tokens: 100
    <model/price>price:
      <price/input_per_million>input_per_million: 1
      <price/output_per_million>output_per_million: 1
      per_image:
        <price/per_image/hd>hd: 0.1
<endpoints>endpoints:
  own:
    <endpoint/at>at: POST /own
    <endpoint/stages>stages:
      - <auth>auth
      - <stage/validate>validate: chat-completion
      - <stage/route>route: { <stage/route/capability>capability: chat }
      - ./plugins/mask-pii.js
      - limit
      - <balance>balance
      - <stage/transform>transform: chat
      - meter
`;

/** The text without marks, and the line and column of each mark. */
function marked(text: string): { text: string; places: Map<string, [number, number]> } {
  const places = new Map<string, [number, number]>();
  const lines = text.split('\n').map((line, at) => {
    let rest = line;
    for (let mark = /<([\w/]*)>/u.exec(rest); mark; mark = /<([\w/]*)>/u.exec(rest)) {
      places.set(mark[1] ?? '', [at, mark.index]);
      rest = rest.replace(mark[0], '');
    }
    return rest;
  });
  return { text: lines.join('\n'), places };
}

/** Markdown as it is read: no backslashes before its signs. */
function plain(markdown: string): string {
  return markdown.replaceAll(/\\([\\`*_{}[\]#+!])/gu, '$1');
}

describe('yaml-language-server, with the schemas', () => {
  let folder: string;
  const server = new LanguageServer();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-editor-'));
    for (const name of Object.keys(PLACES)) await mkdir(join(folder, name));
    await symlink(join(ROOT, 'schemas'), join(folder, 'checkout/schemas'));
    await mkdir(join(folder, 'installed/node_modules'));
    await symlink(ROOT, join(folder, 'installed/node_modules/tollgate'));
    const copy = await readFile(join(ROOT, 'schemas/gateway.schema.json'));
    await writeFile(join(folder, 'a folder with a saved copy/gateway.schema.json'), copy);
    await server.start(folder);
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  let opened = 0;

  /** Opens a text as a new file in such a place; answers its path and its diagnostics. */
  async function open(place: keyof typeof PLACES, text: string) {
    opened += 1;
    const path = join(folder, place, `gateway-${opened}.yaml`);
    const first = `# yaml-language-server: $schema=${PLACES[place]}`;
    const diagnostics = await server.open(path, `${first}\n${text}`);
    return { path, diagnostics: diagnostics.map(({ message }) => message) };
  }

  /** What is offered at the mark <> of a text. */
  async function offered(text: string): Promise<Map<string, string>> {
    const { text: bare, places } = marked(text);
    const { path } = await open('installed', bare);
    const [line = 0, column = 0] = places.get('') ?? [];
    const items = await server.complete(path, line + 1, column);
    server.close(path);
    return new Map(
      items.map(({ label, documentation = '' }) => [
        label,
        typeof documentation === 'string' ? documentation : documentation.value,
      ]),
    );
  }

  for (const place of Object.keys(PLACES) as (keyof typeof PLACES)[]) {
    it(`shows what each key does, in ${place}`, async () => {
      const { text, places } = marked(FILE);
      const { path, diagnostics } = await open(place, text);
      expect(diagnostics).to.deep.equal([]);
      const keys = new Map(keysOf(readSchema('gateway')).map(({ name, schema }) => [name, schema]));
      let asked = 0;
      for (const [name, [line, column]] of places) {
        const description = keys.get(name)?.description;
        if (typeof description !== 'string') continue;
        asked += 1;
        const shown = await server.hover(path, line + 1, column + 1);
        expect(plain(shown), name).to.include(description);
        const isBlock = keys.get(name)?.examples === undefined;
        if (!isBlock) expect(shown, name).to.include('Example');
      }
      expect(asked).to.be.greaterThan(45);
      const top = [...keys.keys()].filter((name) => !name.includes('/'));
      const unasked = top.filter((name) => !places.has(name));
      expect(unasked, 'keys that FILE above still has to have, with a mark').to.deep.equal([]);
      server.close(path);
    });
  }

  it('shows what a stage and a capability do', async () => {
    const { text, places } = marked(FILE);
    const { path } = await open('checkout', text);
    const hover = async (name: string) => {
      const [line = 0, column = 0] = places.get(name) ?? [];
      return plain(await server.hover(path, line + 1, column + 1));
    };
    expect(await hover('auth')).to.include('Finds the account and the key that call.');
    expect(await hover('balance')).to.include('Holds the most that the request can cost');
    expect(await hover('chat')).to.include('`chat`: answers messages with text');
    server.close(path);
  });

  it('completes stages, their options and their schemas', async () => {
    const stages = 'endpoints:\n  own:\n    at: POST /own\n    stages:\n';
    const names = await offered(`${stages}      - auth\n      - <>\n`);
    expect([...names.keys()]).to.include.members(['auth', 'validate', 'route', 'balance', 'meter']);
    expect(names.get('meter')).to.include('Charges what the answer cost');
    const schemas = await offered(`${stages}      - validate: <>\n`);
    expect([...schemas.keys()]).to.include.members(['chat-completion', 'messages', 'embedding']);
    const operations = await offered(`${stages}      - transform: <>\n`);
    expect([...operations.keys()]).to.include.members(['chat', 'image', 'video.submit']);
    const modalities = await offered(`${stages}      - route:\n          capability: <>\n`);
    expect([...modalities.keys()]).to.include.members(['chat', 'image', 'video', 'speech']);
  });

  it('completes manifests, for names of providers too', async () => {
    const uses = await offered('providers:\n  lab:\n    uses: <>\n');
    expect([...uses.keys()]).to.include.members(['vllm', 'openai-compatible', 'bedrock']);
    const names = await offered('providers:\n  <>\n');
    expect([...names.keys()]).to.include.members(['openai', 'anthropic', 'simulator']);
    const model = 'models:\n  m:\n    upstreams:\n      - provider: <>\n';
    expect([...(await offered(model)).keys()]).to.include.members(['openai', 'anthropic']);
  });

  it('completes prices by their units, and offers no name of a type as a key', async () => {
    const model = 'models:\n  m:\n    owner: me\n';
    const whole = await offered(`${model}    price: <>\n`);
    expect([...whole.keys()].toSorted()).to.deep.equal(['example', 'free', 'list']);
    const units = await offered(`${model}    price:\n      <>\n`);
    expect([...units.keys()]).to.include.members(['input_per_million', 'per_image', 'example']);
    const started = await offered(`${model}    price: { in<> }\n`);
    expect([...started.keys()]).to.include('input_per_million');
    for (const blocks of ['    upstreams:\n      - <>\n', '    limits: <>\n']) {
      const names = [...(await offered(model + blocks)).keys()].join(' ');
      expect(names).not.to.match(/\[object Object\]|Entry|[a-z][A-Z]/u);
    }
  });

  it('completes keys and capabilities, with what they do', async () => {
    const keys = await offered('listen: 127.0.0.1:8080\n<>\n');
    expect(keys.get('sign_in')).to.include('The people who may sign in');
    const capabilities = await offered('models:\n  m:\n    capabilities:\n      - <>\n');
    expect(capabilities.get('vision')).to.equal('reads image parts of messages');
    expect(capabilities.size).to.be.at.least(11);
  });

  it('finds no fault in what is valid', async () => {
    expect(await server.open(join(ROOT, 'gateway.yaml'))).to.deep.equal([]);
    const names = (await readdir(FIXTURES)).filter((name) => /^sound-.*\.yaml\.txt$/u.test(name));
    expect(names.length).to.be.at.least(10);
    for (const name of names) {
      const { path, diagnostics } = await open(
        'checkout',
        await readFile(join(FIXTURES, name), 'utf8'),
      );
      expect(diagnostics, name).to.deep.equal([]);
      server.close(path);
    }
  });

  it('found two false faults in a file that is included', async () => {
    const path = join(folder, 'checkout/models/openai.yaml');
    const first = '# yaml-language-server: $schema=../schemas/included.schema.json\n';
    const model = 'owner: me, capabilities: [chat], upstreams: [{ provider: lab }], price: free';
    const whole = `x-chat: &chat { ${model} }\nmodels:\n  small: { <<: *chat }\n  m: { ${model} }\n`;
    expect(await server.open(path, first + whole)).to.deep.equal([]);
    server.close(path);
    const other = join(folder, 'checkout/models/other.yaml');
    const wrong = await server.open(other, `${first}listen: 127.0.0.1:8080\n`);
    expect(wrong.map(({ message }) => message).join()).to.include('listen is not allowed');
    server.close(other);
  });

  it('finds no fault in a manifest that is valid', async () => {
    for (const name of ['replicate', 'bfl', 'bedrock', 'simulator']) {
      const path = join(ROOT, `providers/${name}-in-an-editor.yaml`);
      const text = await readFile(join(ROOT, `providers/${name}.yaml`), 'utf8');
      const first = '# yaml-language-server: $schema=../schemas/provider.schema.json\n';
      expect(await server.open(path, first + text), name).to.deep.equal([]);
      const hover = await server.hover(path, 1, 1);
      expect(hover, name).to.include("The provider's name as people read it.");
      server.close(path);
    }
  });

  for (const [name, said] of [
    ['key-unknown-in-model', 'not allowed'],
    ['key-missing-owner', 'Missing property "owner"'],
    ['value-capability', 'Valid values'],
    ['value-max-tokens-text', 'a whole number of tokens'],
    ['value-duration', 'a duration such as'],
    ['value-log-level', 'Valid values'],
    ['value-owners-list', 'Incorrect type'],
    ['price-negative', 'minimum'],
  ] as const) {
    it(`finds the fault of ${name}`, async () => {
      const text = await readFile(join(FIXTURES, `${name}.yaml.txt`), 'utf8');
      const { path, diagnostics } = await open('checkout', text);
      expect(diagnostics.join('\n')).to.include(said);
      server.close(path);
    });
  }

  it('asked the editor for its settings alone, and the network for nothing', () => {
    expect([...new Set(server.asked)]).to.deep.equal(['workspace/configuration']);
    expect(server.stderr).to.equal('');
  });
});
