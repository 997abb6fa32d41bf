import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makePlace, type Place } from '../helpers/cli.js';
import { responseJson } from '../helpers/responses-server.js';
import {
  chatJson,
  play,
  startUpstream,
  type FakeUpstream,
  type Step,
} from '../helpers/upstream.js';

const GOOD = 'sk-good-0123456789abcdef';
const BAD = 'sk-bad-fedcba9876543210';

interface Row {
  model: string | null;
  provider: string;
  upstream_model: string | null;
  key_accepted: boolean | null;
  model_found: boolean | null;
  usage_reported: boolean | null;
  latency_ms: number;
  cost: string | null;
  result: string;
  failed: boolean;
}

const yamlFor = (url: string): string => `store: sqlite:data/tollgate.db
owners: { me: { name: Me } }
providers:
  lab: { uses: openai, base_url: '${url}/v1', api_key: ${GOOD} }
  locked: { uses: openai, base_url: '${url}/v1', api_key: ${BAD} }
  idle: { uses: openai, base_url: '${url}/v1', api_key: ${GOOD} }
models:
  talk: { owner: me, capabilities: [chat], upstreams: [{ provider: lab, model: good }], price: &paid { input_per_million: 1, output_per_million: 2 } }
  two: { owner: me, capabilities: [chat], upstreams: [{ provider: locked, model: good }, { provider: lab, model: gone }], price: *paid }
  mute: { owner: me, capabilities: [chat], upstreams: [{ provider: lab, model: mute }], price: *paid }
  gift: { owner: me, capabilities: [chat], upstreams: [{ provider: lab, model: mute }], price: free }
  slow: { owner: me, capabilities: [chat], upstreams: [{ provider: lab, model: slow }], price: *paid }
  strict: { owner: me, capabilities: [chat], upstreams: [{ provider: lab, model: strict }], price: *paid }
  vectors: { owner: me, capabilities: [embedding], upstreams: [{ provider: lab, model: vectors }], price: { input_per_million: 1 } }
  deep: { owner: me, capabilities: [chat], upstreams: [{ provider: lab, model: o3-pro }], price: *paid }
  paint: { owner: me, capabilities: [image], upstreams: [{ provider: lab, model: brush }], price: { per_image: 0.04 } }
`;

function refused(status: number, code: string, message: string): Step {
  const headers = { 'content-type': 'application/json' };
  return { status, headers, body: JSON.stringify({ error: { message, code } }) };
}

const EMBEDDING = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
  usage: { prompt_tokens: 2, total_tokens: 2 },
};

/** Answers by the model that is asked for; `slow` never does. */
function stepFor(model: unknown, key: string | undefined): Step {
  if (key === `Bearer ${BAD}`) return refused(401, 'invalid_api_key', `Incorrect key: ${BAD}`);
  switch (model) {
    case 'gone':
      return refused(404, 'model_not_found', 'The model `gone` does not exist.');
    case 'mute':
      return chatJson('Hi', { usage: undefined });
    case 'slow':
      return { hold: new Promise(() => undefined) };
    case 'strict':
      return refused(400, 'invalid_request', `max_tokens is too small, says ${GOOD}`);
    case 'o3-pro':
      return responseJson({ output: [], status: 'incomplete', reason: 'max_output_tokens' });
    case 'vectors':
      return {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(EMBEDDING),
      };
    default:
      return chatJson('Hi', { usage: { prompt_tokens: 8, completion_tokens: 1 } });
  }
}

describe('tollgate probe', () => {
  let upstream: FakeUpstream;
  let place: Place;

  before(async () => {
    upstream = await startUpstream(async ({ json, headers }, response) => {
      await play(stepFor((json as { model?: string })?.model, headers.authorization), response);
    });
    place = await makePlace(yamlFor(upstream.url));
  });
  beforeEach(() => {
    upstream.requests.length = 0;
  });
  after(async () => {
    await place.close();
    await upstream.close();
  });

  async function probe(...args: string[]): Promise<{ status: number | null; rows: Row[] }> {
    const { status, stdout, stderr } = await place.tollgate('probe', ...args, '--json');
    expect(stderr).to.equal('');
    expect(stdout).not.to.include(GOOD).and.not.include(BAD);
    return { status, rows: JSON.parse(stdout) as Row[] };
  }

  it('asks a model whose wire takes no limit of one token for a few', async () => {
    const { rows } = await probe('deep');
    expect(rows[0]).to.include({ result: 'ok', model_found: true, usage_reported: true });
    expect(upstream.requests.map(({ path }) => path)).to.deep.equal(['/v1/responses']);
    expect(upstream.requests[0]?.json).to.include({ max_output_tokens: 16 });
  });

  it('asks a good upstream for one token and says what it cost', async () => {
    const { status, rows } = await probe('talk');
    expect(status).to.equal(0);
    expect(rows).to.have.length(1);
    // 8 tokens at a dollar and 1 at two dollars per million.
    expect(rows[0]).to.include({
      model: 'talk',
      capability: 'chat',
      provider: 'lab',
      upstream_model: 'good',
      key_accepted: true,
      model_found: true,
      usage_reported: true,
      cost: '0.00001',
      result: 'ok',
      failed: false,
    });
    expect(rows[0]?.latency_ms).to.be.at.least(0);
    const [request] = upstream.requests;
    expect(upstream.requests).to.have.length(1);
    expect(request?.path).to.equal('/v1/chat/completions');
    expect(request?.json).to.include({ model: 'good' }).and.not.have.property('stream', true);
    expect(request?.body).to.match(/"max_(completion_)?tokens":1\D/u);
  });

  it('tells a refused key from a missing model, and asks behind a failed upstream too', async () => {
    const { status, rows } = await probe('two');
    expect(status).to.equal(1);
    expect(rows.map(({ key_accepted, model_found }) => [key_accepted, model_found])).to.deep.equal([
      [false, null],
      [true, false],
    ]);
    expect(rows[0]?.result).to.include('refused').and.include('credentials');
    expect(rows.map(({ cost }) => cost)).to.deep.equal(['0.00', '0.00']);
  });

  it('fails an upstream that is paid for and reports no usage, and lets a free one be', async () => {
    const paid = await probe('mute');
    expect(paid.status).to.equal(1);
    expect(paid.rows[0]).to.include({ key_accepted: true, usage_reported: false, failed: true });
    const free = await probe('gift');
    expect(free.status).to.equal(0);
    expect(free.rows[0]).to.include({ usage_reported: false, cost: '0.00', failed: false });
  });

  it('gives up on an upstream that never answers, within its timeout', async () => {
    const { status, rows } = await probe('slow', '--timeout', '300ms');
    expect(status).to.equal(1);
    expect(rows[0]?.result).to.include('longer than 300 ms');
    expect(rows[0]?.latency_ms).to.be.within(290, 20_000);
  });

  it('shows why an upstream rejects the call, with the key masked', async () => {
    const { rows } = await probe('strict');
    expect(rows[0]).to.include({ key_accepted: null, failed: true });
    expect(rows[0]?.result).to.equal('max_tokens is too small, says ***');
  });

  it('asks an embedding model for the vector of one word', async () => {
    const { status, rows } = await probe('vectors');
    expect({ status, cost: rows[0]?.cost }).to.deep.equal({ status: 0, cost: '0.000002' });
    expect(upstream.requests[0]?.json).to.include({ model: 'vectors' });
  });

  it('buys no image: it reaches the provider without its key, and says so', async () => {
    const { status, rows } = await probe('paint');
    expect(status).to.equal(0);
    expect(rows[0]).to.include({ key_accepted: null, cost: null, result: 'reached; not paid for' });
    const [request] = upstream.requests;
    expect(request?.method).to.equal('GET');
    expect(request?.headers).not.to.have.property('authorization');
  });

  it('asks all upstreams of one provider, or reaches a provider that no model uses', async () => {
    const { status, rows } = await probe('locked');
    expect({ status, models: rows.map(({ model }) => model) }).to.deep.equal({
      status: 1,
      models: ['two'],
    });
    const idle = await probe('idle');
    expect(idle.rows).to.have.length(1);
    expect(idle.rows[0]).to.include({ model: null, provider: 'idle', failed: false });
  });

  it('fails an address where nobody listens', async () => {
    const other = await startUpstream({});
    await other.close();
    const dead = await makePlace(yamlFor(other.url));
    const { status, stdout } = await dead.tollgate('probe', 'paint', '--json');
    await dead.close();
    expect(status).to.equal(1);
    expect((JSON.parse(stdout) as Row[])[0]?.result).to.include('unreachable');
  });

  it('shows people a table of all upstreams, and opens no store', async () => {
    const { status, stdout } = await place.tollgate('probe', '--timeout', '3s');
    expect(status).to.equal(1);
    expect(stdout).to.match(/^model .*key accepted .*model found .*usage reported .*cost/u);
    expect(stdout).to.include('FAILED: The upstream took longer than 3000 ms.');
    expect(stdout).to.include('\n10 upstreams asked, 5 failed.\n');
    expect(stdout).not.to.include(GOOD).and.not.include(BAD);
    expect(existsSync(join(place.folder, 'data'))).to.equal(false);
  });

  it('needs the variables of the probed providers, and of no others', async () => {
    const yaml = yamlFor(upstream.url).replace(`api_key: ${BAD}`, "api_key: '${LOCKED_KEY}'");
    const own = await makePlace(yaml);
    try {
      expect(await own.tollgate('probe', 'talk')).to.include({ status: 0, stderr: '' });
      expect(await own.tollgate('probe', 'idle')).to.include({ status: 0, stderr: '' });
      for (const args of [['two'], ['locked'], []]) {
        const { status, stderr } = await own.tollgate('probe', ...args);
        expect([status, stderr.includes('LOCKED_KEY')]).to.deep.equal([1, true]);
      }
    } finally {
      await own.close();
    }
  });
});
