import { expect } from 'chai';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readInitProviders } from '../../src/config/init-providers.js';
import { chat, completionOf } from '../helpers/ask.js';
import { makePlace, type Place } from '../helpers/cli.js';
import { startLocalServer } from '../helpers/local-server.js';
import { startUpstream, type FakeUpstream } from '../helpers/upstream.js';

interface Written {
  listen: string;
  owners: Record<string, { name: string }>;
  providers: Record<string, Record<string, string>>;
  models: Record<
    string,
    {
      owner: string;
      capabilities: string[];
      upstreams: { provider: string; model?: string }[];
      limits?: { max_tokens?: number; context?: number };
      price: unknown;
    }
  >;
}

interface Printed {
  file: string;
  providers: { name: string; variables: string[]; base_url: string | null; models: string[] }[];
  missed: { name: string; reason: string }[];
  next: string;
}

const KEY = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** A server that lists such models, and answers chat. */
const localServer = (...models: object[]): Promise<FakeUpstream> =>
  startLocalServer(models, 'Hello there.');

describe('tollgate init', () => {
  const open: (Place | FakeUpstream)[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });

  /** A folder with nothing in it. */
  async function emptyPlace(env: NodeJS.ProcessEnv = {}): Promise<Place> {
    const place = await makePlace('', env);
    open.push(place);
    await rm(place.file);
    return place;
  }

  async function server(...models: object[]): Promise<FakeUpstream> {
    const local = await localServer(...models);
    open.push(local);
    return local;
  }

  async function written(place: Place): Promise<Written> {
    const strict = await place.tollgate('check', '--strict');
    expect(strict.stdout).to.match(/^gateway\.yaml is valid\.\n/u);
    expect(strict.status).to.equal(0);
    return parse(await readFile(place.file, 'utf8')) as Written;
  }

  it('leads from an empty folder to the answer of a local server in three commands', async () => {
    const place = await emptyPlace();
    const { url, requests } = await server({ id: 'llama3.2:3b' }, { id: 'nomic-embed-text' });
    const first = await place.tollgate('init', '--local', `ollama=${url}`);
    expect(first).to.include({ status: 0, stderr: '' });
    expect(first.stdout).to.include('llama3.2:3b').and.include('\n  npx tollgate serve\n');
    const serving = place.begin('serve', '--listen', '127.0.0.1:0');
    const address = await serving.url();
    const [secret = ''] = /tg-[0-9A-Za-z]{20,}/u.exec(serving.stdout) ?? [];
    const messages = [{ role: 'user', content: 'Hello!' }];
    const answer = completionOf(
      await chat({ url: address, secret }, { model: 'llama3.2:3b', messages }),
    );
    expect(answer.choices[0]?.message.content).to.equal('Hello there.');
    expect(requests.map(({ path }) => path)).to.deep.equal(['/v1/models', '/v1/chat/completions']);
  });

  it('writes free models of local servers, as far as they tell of them', async () => {
    const place = await emptyPlace();
    const a = await server({ id: 'Qwen/Qwen3-8B', max_model_len: 40960 }, { id: 'bge-m3' });
    const b = await server(
      { id: 'bge-m3' },
      { id: '7b: it\'s "x" #1' },
      { id: 7 },
      { id: '0${A}' },
    );
    const c = await server({ id: '01-ai/yi' });
    const locals = [`vllm=${a.url}/v1/`, b.url, c.url].flatMap((one) => ['--local', one]);
    await place.tollgate('init', ...locals);
    const { providers, models, owners } = await written(place);
    expect(providers).to.deep.equal({
      vllm: { base_url: `${a.url}/v1` },
      local: { uses: 'openai-compatible', base_url: `${b.url}/v1` },
      'local-2': { uses: 'openai-compatible', base_url: `${c.url}/v1` },
    });
    expect(owners.vllm).to.deep.equal({ name: 'vLLM' });
    expect(Object.keys(models)).to.have.members(['Qwen/Qwen3-8B', 'bge-m3', '01-ai/yi']);
    expect(models['Qwen/Qwen3-8B']).to.deep.equal({
      owner: 'vllm',
      capabilities: ['chat', 'tools'],
      upstreams: [{ provider: 'vllm' }],
      limits: { context: 40960 },
      price: 'free',
    });
    expect(models['bge-m3']).to.deep.include({
      capabilities: ['embedding'],
      upstreams: [{ provider: 'vllm' }, { provider: 'local' }],
    });
  });

  it('takes keys from the environment and from .env, and writes none of them', async () => {
    const place = await emptyPlace({ OPENAI_API_KEY: KEY, MISTRAL_API_KEY: '' });
    await writeFile(join(place.folder, '.env'), `GOOGLE_API_KEY=${KEY}2\n`);
    const printed = await place.json<Printed>('init', '--no-local');
    expect(printed.providers.map(({ name, variables }) => [name, variables])).to.deep.equal([
      ['gemini', ['GOOGLE_API_KEY']],
      ['openai', ['OPENAI_API_KEY']],
    ]);
    expect(printed.missed).to.deep.include({
      name: 'mistral',
      reason: 'MISTRAL_API_KEY is not set',
    });
    expect(await readFile(place.file, 'utf8')).not.to.include(KEY);
    const { models, providers } = await written(place);
    expect(providers.gemini).to.deep.equal({ api_key: '${GOOGLE_API_KEY}' });
    expect(models['gpt-5.4-mini']).to.deep.equal({
      owner: 'openai',
      capabilities: ['chat', 'vision', 'tools'],
      upstreams: [{ provider: 'openai' }],
      limits: { max_tokens: 128000, context: 400000 },
      price: {
        input_per_million: 0.75,
        cached_input_per_million: 0.075,
        output_per_million: 4.5,
        tiers: {
          flex: {
            input_per_million: 0.375,
            cached_input_per_million: 0.0375,
            output_per_million: 2.25,
          },
          priority: {
            input_per_million: 1.5,
            cached_input_per_million: 0.15,
            output_per_million: 9,
          },
        },
      },
    });
  });

  it('writes a valid file where every key is set, with every model that manifests name', async () => {
    const init_providers = await readInitProviders();
    const names = init_providers.flatMap(({ variables }) => variables.flatMap(([, some]) => some));
    const place = await emptyPlace(Object.fromEntries(names.map((name) => [name, 'x1'])));
    const printed = await place.json<Printed>('init', '--no-local');
    expect(printed.missed).to.deep.equal([]);
    const { models, providers } = await written(place);
    const wanted = init_providers.filter(({ in_process }) => !in_process);
    const ids = Object.entries(models).flatMap(([id, { upstreams }]) =>
      upstreams.map(({ provider, model = id }) => `${provider} ${model}`),
    );
    expect(ids).to.have.members(
      wanted.flatMap(({ manifest, models: known }) => known.map(([id]) => `${manifest} ${id}`)),
    );
    expect(Object.keys(providers)).to.include('bedrock').and.not.include('together');
    expect(await readFile(place.file, 'utf8')).to.include('  # together: { api_key:');
  });

  it('serves the simulator where it finds nothing, and says so', async () => {
    const place = await emptyPlace();
    const { stdout } = await place.tollgate('init', '--no-local');
    expect(stdout).to.include('Found no key').and.include('npx tollgate serve');
    const { models, listen } = await written(place);
    expect(models).to.have.any.keys('sim-chat');
    expect(listen).to.equal('127.0.0.1:8080');
  });

  it('serves the simulator beside a provider whose prices are not known', async () => {
    const place = await emptyPlace({ TOGETHER_API_KEY: KEY });
    const { stdout } = await place.tollgate('init', '--no-local');
    expect(stdout).to.include('Together AI by TOGETHER_API_KEY: its prices are not known here');
    expect(Object.keys((await written(place)).providers)).to.deep.equal(['simulator']);
  });

  it('wrote the simulator for a key of OpenRouter or Azure alone', async () => {
    const router = await emptyPlace({ OPENROUTER_API_KEY: KEY });
    await router.tollgate('init', '--no-local');
    expect(Object.keys((await written(router)).models)).to.include('openai/gpt-5.4-mini');
    const azure = await emptyPlace({ AZURE_OPENAI_API_KEY: KEY });
    const { stdout } = await azure.tollgate('init', '--no-local');
    expect(stdout).to.include('Next: set AZURE_RESOURCE_NAME, here or in .env, then');
    const text = await readFile(azure.file, 'utf8');
    expect(text).to.include("resource: '${AZURE_RESOURCE_NAME}'").and.not.include('simulator');
  });

  it('refused a picked provider whose variable, which the file only names, is not set', async () => {
    const place = await emptyPlace();
    const { status, stdout } = await place.tollgate('init', '--provider', 'openai', '--no-local');
    expect(status).to.equal(0);
    expect(stdout).to.include('Next: set OPENAI_API_KEY, here or in .env, then');
    expect(await readFile(place.file, 'utf8')).to.include("api_key: '${OPENAI_API_KEY}'");
  });

  it('writes the picked providers only', async () => {
    const place = await emptyPlace({ OPENAI_API_KEY: KEY, GROQ_API_KEY: KEY, XAI_API_KEY: KEY });
    const { url, requests } = await server({ id: 'm' });
    const picks = ['--provider', 'groq', '--provider', 'xai', '--local', `ollama=${url}`];
    await place.tollgate('init', ...picks);
    expect(Object.keys((await written(place)).providers)).to.deep.equal(['groq', 'xai']);
    expect(requests).to.deep.equal([]);
  });

  it('replaces a file only with --force', async () => {
    const place = await emptyPlace();
    await place.write('mine');
    const refused = await place.tollgate('init', '--no-local');
    expect(refused).to.deep.include({ status: 1, stdout: '' });
    expect(refused.stderr).to.equal(
      'tollgate: gateway.yaml is there already; --force replaces it\n',
    );
    expect(await readFile(place.file, 'utf8')).to.equal('mine');
    expect(await place.tollgate('init', '--no-local', '--force')).to.include({ status: 0 });
    await written(place);
  });

  it('names the file that it was given in the next command', async () => {
    const place = await emptyPlace();
    await mkdir(join(place.folder, 'my conf'));
    const { next, file } = await place.json<Printed>('init', 'my conf/tg.yaml', '--no-local');
    expect(next).to.equal("npx tollgate serve --config 'my conf/tg.yaml'");
    await access(join(place.folder, file));
  });

  it('leaves out what answers and lists no models, and tells why', async () => {
    const place = await emptyPlace();
    const locked = await startUpstream({ status: 401, body: '{"error":{"message":"no key"}}' });
    const page = await startUpstream({ body: '<html>' });
    const empty = await startUpstream({ body: '{"object":"list","data":null}' });
    const large = await startUpstream({ body: `[${'1,'.repeat(600_000)}1]` });
    const silent = await startUpstream({ hold: new Promise(() => undefined) });
    open.push(locked, page, empty, large, silent);
    const urls = [locked, page, empty, large, silent].map(({ url }) => `${url}/v1`);
    const locals = urls.flatMap((url) => ['--local', url]);
    const { missed } = await place.json<Printed>('init', ...locals);
    const reasons = missed.map(({ reason }) => reason).slice(-urls.length);
    expect(reasons).to.deep.equal([
      `${urls[0]} answers, but wants a key`,
      `${urls[1]} answers, but lists no models`,
      `${urls[2]} answers, but has no model yet`,
      `${urls[3]} answers, but lists no models`,
      `nothing answers at ${urls[4]}`,
    ]);
    await written(place);
  });

  const MISTAKES: [string[], string][] = [
    [['--provider', 'opnai'], 'init knows no provider "opnai"; did you mean "openai"?'],
    [['--provider', 'ollama', '--no-local'], 'with --no-local its server is not asked'],
    [['--local', 'ftp://x'], '--local takes [NAME=]URL, such as ollama=http://127.0.0.1:11434/v1'],
    [['--local', 'http://a:b@127.0.0.1'], '--local takes [NAME=]URL'],
    [['none/gateway.yaml', '--no-local'], 'there is no folder none'],
    [['.', '--no-local', '--force'], '. is a folder'],
  ];
  for (const [args, words] of MISTAKES) {
    it(`refuses init ${args.join(' ')} in a sentence, and writes nothing`, async () => {
      const place = await emptyPlace();
      const { status, stdout, stderr } = await place.tollgate('init', ...args);
      expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr)
        .to.match(/^tollgate: [^\n]+\n$/u)
        .and.include(words);
      expect(await access(place.file).catch(() => 'none')).to.equal('none');
    });
  }
});

describe('the customary addresses of local servers', () => {
  it('are those of their manifests', async () => {
    const own = (await readInitProviders()).flatMap(({ manifest, base_url, local }) =>
      local.filter(([name]) => name === manifest).map(([, url]) => [url, base_url]),
    );
    expect(own).to.have.length(4);
    for (const [url, base_url] of own) expect(url).to.equal(base_url);
  });
});
