import { expect } from 'chai';
import { chatJson, chatSse, type Step } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import { HELLO, onlyCharge, scriptedGateways } from '../money/helpers/scripted-gateway.js';

const BROKEN: Step = { status: 500, body: '{}' };
const START_MS = Date.UTC(2026, 10, 28);

describe('an upstream that fails beside one that answers', () => {
  const open = scriptedGateways();

  it('hung for its whole first_byte at each of three calls: it does at the first alone', async () => {
    const scripts = { hung: { hold: new Promise(() => undefined) }, open: chatJson('Hi') };
    const house = await open(scripts, { provider: 'timeout: { first_byte: 100ms }', now: () => 5 });
    for (let call = 0; call < 3; call += 1) {
      expect((await house.post(HELLO)).status).to.equal(200);
    }
    expect(house.upstreams.hung?.requests).to.have.length(1);
    expect(house.upstreams.open?.requests).to.have.length(3);
  });

  it('is back as soon as one call finds that it answers', async () => {
    let now_ms = START_MS;
    const scripts = { up: [BROKEN, chatJson('back')], open: chatJson('other') };
    const house = await open(scripts, { now: () => now_ms });
    const said = async (): Promise<string> => (await house.post(HELLO)).text();
    expect(await said()).to.contain('other');
    now_ms += 999;
    expect(await said()).to.contain('other');
    now_ms += 1;
    expect(await said()).to.contain('back');
    expect(await said()).to.contain('back');
    expect(await house.gateway.store.rests.list()).to.deep.equal([]);
  });

  it('keeps its load while it fails once in many calls', async () => {
    const answers = Array.from({ length: 20 }, () => chatJson('fine'));
    const scripts = { up: [...answers, BROKEN, chatJson('fine')], open: chatJson('other') };
    const house = await open(scripts, { now: () => START_MS });
    for (let call = 0; call < 22; call += 1) expect((await house.post(HELLO)).status).to.equal(200);
    expect(house.upstreams.open?.requests).to.have.length(1);
  });

  it('does not rest for what a client sent', async () => {
    const refused = { status: 400, body: '{"error":{"message":"context_length_exceeded"}}' };
    const house = await open({ up: refused, open: chatJson('Hi') }, { now: () => START_MS });
    for (let call = 0; call < 2; call += 1) expect((await house.post(HELLO)).status).to.equal(200);
    expect(house.upstreams.up?.requests).to.have.length(2);
  });

  it('is asked all the same where the other fails too', async () => {
    const scripts = { up: [BROKEN, chatJson('after all')], open: [chatJson('Hi'), BROKEN] };
    const house = await open(scripts, { now: () => START_MS });
    expect(await (await house.post(HELLO)).text()).to.contain('Hi');
    expect(await (await house.post(HELLO)).text()).to.contain('after all');
  });

  it('is called again within a second when an operator resumes it', async () => {
    let now_ms = START_MS;
    const scripts = { up: [BROKEN, BROKEN, chatJson('back')], open: chatJson('other') };
    const house = await open(scripts, { now: () => now_ms });
    const said = async (): Promise<string> => (await house.post(HELLO)).text();
    await said();
    now_ms += 1_000;
    await said();
    const { rests } = house.gateway.store;
    const failures = async (): Promise<number | undefined> => (await rests.list())[0]?.failures;
    await until(async () => (await failures()) === 2, 'both failures are in the store');
    await rests.resume('up');
    // The rest would last until two seconds after the second failure.
    now_ms += 1_000;
    await until(async () => (await said()).includes('back'), 'it is called again');
  });
});

describe('the only upstream of a model', () => {
  const open = scriptedGateways();

  it('is always called while it fails', async () => {
    const house = await open(BROKEN, { now: () => START_MS });
    for (let call = 0; call < 3; call += 1) expect((await house.post(HELLO)).status).to.equal(502);
    expect(house.upstream.requests).to.have.length(3);
  });

  it('is not called before it said ten times, and clients get 503 with its Retry-After', async () => {
    let now_ms = START_MS;
    const limited = { status: 429, headers: { 'retry-after': '30' }, body: '{}' };
    const script = [...Array.from({ length: 10 }, () => limited), chatJson('Hi')];
    const house = await open(script, { now: () => now_ms });
    for (let call = 0; call < 10; call += 1) {
      const answer = await house.post(HELLO);
      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([502, '30']);
    }
    now_ms += 10_000;
    const second = await house.post(HELLO);
    expect([second.status, second.headers.get('retry-after')]).to.deep.equal([503, '20']);
    const { error } = (await second.json()) as { error: { code: string; message: string } };
    expect(error.code).to.equal('overloaded');
    expect(error.message).to.contain('try again in 20 s');
    now_ms += 20_000;
    expect((await house.post(HELLO)).status).to.equal(200);
    expect(house.upstream.requests).to.have.length(11);
  });

  it('said the date of its return, and clients get the seconds until then', async () => {
    const date = new Date(START_MS + 7_500).toUTCString();
    const limited = { status: 429, headers: { 'retry-after': date }, body: '{}' };
    const house = await open([limited], { now: () => START_MS });
    const { status, headers } = await house.post(HELLO);
    const wait_ms = Date.parse(date) - START_MS;
    expect([status, headers.get('retry-after')]).to.deep.equal([
      502,
      String(Math.ceil(wait_ms / 1_000)),
    ]);
  });

  it('serves all others after the large request of one client was its 429 of a minute', async () => {
    const limited = { status: 429, headers: { 'retry-after': '45' }, body: '{}' };
    const house = await open([limited, chatJson('Hi')], { now: () => START_MS });
    expect((await house.post(HELLO)).status).to.equal(502);
    expect((await house.post(HELLO)).status).to.equal(200);
  });
});

describe('a call that failed before its output', () => {
  const open = scriptedGateways();

  it('was a 502 at every second call: a repeat cures it, and is charged once', async () => {
    const waits: number[] = [];
    const house = await open([BROKEN, chatJson('Hi')], {
      is_retrying: true,
      pause: async (ms) => void waits.push(ms),
    });
    const answer = await house.post(HELLO);
    expect(answer.status).to.equal(200);
    expect(waits).to.have.length(1);
    expect(waits[0]).to.be.within(125, 250);
    await onlyCharge(house);
  });

  it('is a stream of one answer after a repeat', async () => {
    const scripts = [{ status: 503, body: '{}' }, chatSse(['Hi'])];
    const house = await open(scripts, { is_retrying: true });
    expect(await (await house.post({ ...HELLO, stream: true })).text()).to.contain('[DONE]');
    await onlyCharge(house);
  });

  it('goes to all other upstreams before one gets it again', async () => {
    const house = await open({ up: BROKEN, open: BROKEN }, { is_retrying: true });
    expect((await house.post(HELLO)).status).to.equal(502);
    expect(house.upstreams.up?.requests).to.have.length(2);
    expect(house.upstreams.open?.requests).to.have.length(2);
  });

  it('waits as long as Retry-After says, unless that is long', async () => {
    let now_ms = START_MS;
    const waits: number[] = [];
    const limited = (seconds: string): Step => {
      return { status: 429, headers: { 'retry-after': seconds }, body: '{}' };
    };
    const house = await open([limited('3'), chatJson('Hi'), limited('11')], {
      is_retrying: true,
      now: () => now_ms,
      pause: async (ms) => {
        waits.push(ms);
        now_ms += ms;
      },
    });
    expect((await house.post(HELLO)).status).to.equal(200);
    const late = await house.post(HELLO);
    expect([late.status, late.headers.get('retry-after')]).to.deep.equal([502, '11']);
    expect(waits).to.deep.equal([3_000]);
  });

  it('is not sent again where the upstream may bill it', async () => {
    const scripts: readonly Step[] = [
      { hold: new Promise(() => undefined) },
      { destroyAfter: -1 },
      { status: 504, body: '{}' },
      { body: '{"choices":', chunks: ['{"choices":'], destroyAfter: 1 },
    ];
    for (const script of scripts) {
      const provider = 'timeout: { first_byte: 100ms }';
      const house = await open(script, { is_retrying: true, provider });
      expect((await house.post(HELLO)).status).to.equal(502);
      expect(house.upstream.requests).to.have.length(1);
    }
  });

  it('is sent as often as the nearest retry says', async () => {
    const settings = 'defaults: { retry: { attempts: 0 } }';
    const upstreams = '{ provider: up }';
    const asked = async (more: object): Promise<number | undefined> => {
      const house = await open({ up: BROKEN }, { is_retrying: true, settings, upstreams, ...more });
      await house.post(HELLO);
      return house.upstreams.up?.requests.length;
    };
    expect(await asked({})).to.equal(1);
    expect(await asked({ provider: 'retry: { attempts: 1 }' })).to.equal(2);
    expect(await asked({ model: 'retry: { attempts: 2 }' })).to.equal(3);
    const own = '{ provider: up, retry: { attempts: 3 } }';
    expect(await asked({ model: 'retry: { attempts: 2 }', upstreams: own })).to.equal(4);
  });

  it('ends with the client that leaves while the gateway waits', async () => {
    const house = await open(BROKEN, {
      is_retrying: true,
      pause: () => new Promise(() => undefined),
    });
    const leaving = new AbortController();
    const answer = house.post(HELLO, { signal: leaving.signal }).catch(() => 'left');
    await until(() => house.upstream.requests.length === 1, 'the upstream has failed');
    leaving.abort();
    expect(await answer).to.equal('left');
    await house.settled();
    expect(await house.charges()).to.deep.equal([]);
  });
});

describe('an image that failed', () => {
  const open = scriptedGateways();

  it('is made again only where the upstream refused it', async () => {
    const sent = async (script: readonly Step[]): Promise<[number, number]> => {
      const house = await open([...script], {
        is_retrying: true,
        capabilities: 'image',
        price: '{ per_image: 0.01 }',
      });
      const { status } = await fetch(`${house.url}/v1/images/generations`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${house.secret}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ model: 'm', prompt: 'a toll' }),
      });
      return [status, house.upstream.requests.length];
    };
    const made: Step = {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ created: 1, data: [{ b64_json: 'aGk=' }] }),
    };
    expect(await sent([{ status: 429, body: '{}' }, made])).to.deep.equal([200, 2]);
    expect(await sent([BROKEN, made])).to.deep.equal([502, 1]);
    expect(await sent([{ status: 503, body: '{}' }, made])).to.deep.equal([502, 1]);
  });
});
