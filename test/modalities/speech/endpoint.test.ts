import { expect } from 'chai';
import { errorOf } from '../../helpers/ask.js';
import { startPaidGateway, type PaidGateway } from '../../helpers/paid-gateway.js';
import { until } from '../../helpers/until.js';

const MODEL = 'owner: acme, capabilities: [speech], upstreams: [{ provider: up, model: tts-1 }]';
const MODELS = `
  voice: { ${MODEL}, price: { per_million_characters: 15 } }
  odd: { ${MODEL}, price: { per_million_characters: 0.000001 } }
  free: { ${MODEL}, price: free }
  open: { ${MODEL}, price: free, passthrough: [sample_rate] }
  talk: { owner: acme, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }
`;
const CHARACTER_NANO = 15_000n;
const HELLO = { model: 'voice', input: 'Hello 🌍', voice: 'alloy' };
const SOUND = { headers: { 'content-type': 'audio/mpeg' }, chunks: ['one', 'two', 'three'] };

describe('POST /v1/audio/speech', () => {
  let paid: PaidGateway;
  before(async () => {
    paid = await startPaidGateway(MODELS);
  });
  beforeEach(() => {
    paid.step = SOUND;
    paid.upstream.requests.length = 0;
  });
  afterEach(async () => {
    const report = await paid.gateway.store.verify();
    expect([report.open_holds, report.faults]).to.deep.equal([0, []]);
  });
  after(() => paid.close());

  const post = (change: object, headers = {}) =>
    paid.post('/v1/audio/speech', { ...HELLO, ...change }, headers);

  /** What the call adds to the ledger. */
  async function costOf(call: () => Promise<unknown>): Promise<bigint[]> {
    const before = (await paid.charged()).length;
    await call();
    return (await paid.charged()).slice(before);
  }

  it('gives the sound as it came, in the type of its format', async () => {
    const { status, headers, text } = await post({});
    expect([status, text]).to.deep.equal([200, 'onetwothree']);
    expect(headers.get('content-type')).to.equal('audio/mpeg');
    expect(headers.get('x-request-id')).to.be.a('string');
    expect(paid.upstream.requests[0]).to.deep.include({ path: '/audio/speech' });
    expect(paid.upstream.requests[0]?.json).to.deep.equal({
      model: 'tts-1',
      input: 'Hello 🌍',
      voice: 'alloy',
      response_format: 'mp3',
    });
  });

  it('charges each character as Unicode counts it, and tells how many', async () => {
    const costs = await costOf(() => post({}));
    expect(costs).to.deep.equal([7n * CHARACTER_NANO]);
    expect(await paid.counted()).to.include({ characters: 7 });
  });

  it('charges the instructions like the text', async () => {
    const costs = await costOf(() => post({ instructions: 'Whisper.' }));
    expect(costs).to.deep.equal([15n * CHARACTER_NANO]);
    expect(paid.upstream.requests[0]?.json).to.include({ instructions: 'Whisper.' });
  });

  it('takes null in an optional field as no field', async () => {
    const { status } = await post({ instructions: null, response_format: null, speed: null });
    expect(status).to.equal(200);
  });

  it('rounds up to the next nano-dollar', async () => {
    expect(await costOf(() => post({ model: 'odd' }))).to.deep.equal([1n]);
  });

  it('charges nothing for a free model', async () => {
    expect(await costOf(() => post({ model: 'free' }))).to.deep.equal([]);
  });

  for (const [what, step] of [
    ['an upstream that fails', { status: 500, body: 'no' }],
    ['an answer that is no sound', { headers: { 'content-type': 'application/json' }, body: '{}' }],
    ['an answer of no bytes', { headers: SOUND.headers, body: '' }],
  ] as const) {
    it(`answers 502 for ${what}, and charges nothing`, async () => {
      paid.step = step;
      const costs = await costOf(async () => expect((await post({})).status).to.equal(502));
      expect(costs).to.deep.equal([]);
    });
  }

  it('tells a client what the upstream refuses', async () => {
    const error = { message: 'No such voice.', type: 'invalid_request_error', param: 'voice' };
    paid.step = { status: 400, body: JSON.stringify({ error }) };
    const answer = await post({});
    expect([answer.status, errorOf(answer).message]).to.deep.equal([400, 'No such voice.']);
  });

  for (const cut of [1, 2, 3]) {
    it(`never looks whole where it was cut after chunk ${cut} of a few bytes, and costs nothing`, async () => {
      paid.step = { ...SOUND, destroyAfter: cut };
      const costs = await costOf(async () => {
        const outcome = await post({}).catch((error: unknown) => error);
        expect(outcome).to.be.instanceOf(TypeError);
      });
      expect(costs).to.deep.equal([]);
    });
  }

  it('charges before the last bytes go out', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    paid.step = { ...SOUND, chunks: ['one', 'two', held] };
    const costs = await costOf(async () => {
      const authorization = `Bearer ${paid.secret}`;
      const { body } = await fetch(`${paid.url}/v1/audio/speech`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(HELLO),
      });
      const reader = body?.getReader();
      const first = await reader?.read();
      expect(Buffer.from(first?.value ?? []).toString()).to.match(/^one/u);
      const { length } = await paid.charged();
      release();
      await reader?.read();
      expect((await paid.charged()).length).to.equal(length + 1);
      await reader?.read();
    });
    expect(costs).to.have.length(1);
  });

  it('charges a client that leaves in the middle', async () => {
    const never = new Promise<void>(() => undefined);
    paid.step = { ...SOUND, chunks: ['one', 'two', never] };
    const before = (await paid.charged()).length;
    const leave = new AbortController();
    const authorization = `Bearer ${paid.secret}`;
    const answer = await fetch(`${paid.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(HELLO),
      signal: leave.signal,
    });
    await answer.body?.getReader().read();
    leave.abort();
    await until(async () => (await paid.charged()).length > before, 'a charge');
    expect((await paid.charged()).at(-1)).to.equal(7n * CHARACTER_NANO);
  });

  it('charges what was delivered of sound that its upstream cuts', async () => {
    // A second of sound, in which fifteen characters are spoken.
    paid.step = { ...SOUND, chunks: [Buffer.alloc(16_001)], destroyAfter: 1 };
    const input = 'The toll is paid, and the gate is open again.';
    const costs = await costOf(async () => {
      const outcome = await post({ input }).catch((error: unknown) => error);
      expect(outcome).to.be.instanceOf(TypeError);
    });
    expect(costs).to.deep.equal([15n * CHARACTER_NANO]);
    expect(await paid.counted()).to.include({ characters: 15 });
  });

  const LONG = { ...SOUND, chunks: Array<Buffer>(400).fill(Buffer.alloc(100_000)) };

  /** Asks for long sound of a gateway with these limits, reads it late, and tells the charges. */
  async function readLate(options: object): Promise<bigint[]> {
    const slow = await startPaidGateway(MODELS, { step: LONG, ...options });
    try {
      const answer = await fetch(`${slow.url}/v1/audio/speech`, {
        method: 'POST',
        headers: { authorization: `Bearer ${slow.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(HELLO),
      });
      expect(await slow.upstream.requests[0]?.closed, 'read whole').to.equal(false);
      const outcome = await answer.arrayBuffer().catch((error: unknown) => error);
      expect(outcome, 'an answer that looks whole').to.be.instanceOf(TypeError);
      return await slow.charged();
    } finally {
      await slow.close();
    }
  }

  it('charges a client that reads until the time of the upstream has run out', async () => {
    const costs = await readLate({ timeout: '{ total: 2s }' });
    expect(costs).to.deep.equal([7n * CHARACTER_NANO]);
  });

  it('charges a client that stops reading until the upstream resets the connection', async () => {
    let reset = (): void => undefined;
    const stalled = new Promise<void>((resolve) => (reset = resolve));
    const slow = await startPaidGateway(MODELS, { step: { ...LONG, chunks: [] } });
    try {
      slow.step = { ...LONG, chunks: [...LONG.chunks.slice(0, 20), stalled], destroyAfter: 20 };
      const answer = await fetch(`${slow.url}/v1/audio/speech`, {
        method: 'POST',
        headers: { authorization: `Bearer ${slow.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(HELLO),
      });
      reset();
      expect(await slow.upstream.requests[0]?.closed, 'read whole').to.equal(false);
      const outcome = await answer.arrayBuffer().catch((error: unknown) => error);
      expect(outcome, 'an answer that looks whole').to.be.instanceOf(TypeError);
      expect(await slow.charged()).to.deep.equal([7n * CHARACTER_NANO]);
    } finally {
      await slow.close();
    }
  });

  it('charges sound beyond the limit of the gateway', async () => {
    const costs = await readLate({ settings: 'limits: { stream: 1mb }' });
    expect(costs).to.deep.equal([7n * CHARACTER_NANO]);
  });

  it('counts a store that fails as no failure of the provider', async () => {
    const failing = await startPaidGateway(MODELS, {
      step: SOUND,
      settings: 'journal: gateway.yaml',
    });
    try {
      const { store } = failing.gateway;
      store.charge = () => Promise.reject(new TypeError('The row is impossible.'));
      const outcome = await failing
        .post('/v1/audio/speech', HELLO)
        .catch((error: unknown) => error);
      expect(outcome, 'an answer that looks whole').to.be.instanceOf(TypeError);
      const records = () => store.requests.page({ limit: 1 });
      await until(async () => (await records()).length === 1, 'a record');
      const [record] = await records();
      expect(record?.attempts[0]).to.include({ provider: 'up', fault: null });
    } finally {
      await failing.close();
    }
  });

  it('charges a client that left before the first byte, where the upstream bills on', async () => {
    const on = await startPaidGateway(MODELS, { uses: 'groq' });
    try {
      let answerNow = (): void => undefined;
      const hold = new Promise<void>((resolve) => (answerNow = resolve));
      on.step = { ...SOUND, hold };
      const leave = new AbortController();
      const { url, secret } = on;
      const asked = fetch(`${url}/v1/audio/speech`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(HELLO),
        signal: leave.signal,
      }).catch((error: unknown) => error);
      await until(() => on.upstream.requests.length === 1, 'a call');
      leave.abort();
      await asked;
      answerNow();
      await until(async () => (await on.charged()).length === 1, 'a charge');
      expect(await on.charged()).to.deep.equal([7n * CHARACTER_NANO]);
      expect((await on.gateway.store.verify()).open_holds).to.equal(0);
    } finally {
      await on.close();
    }
  });

  it('is refused with 402 where the credit is less than the price, and goes nowhere', async () => {
    const { store } = paid.gateway;
    const poor = await store.createAccount('poor', 7n * CHARACTER_NANO - 1n);
    const { secret } = await store.createKey(poor.id, 'k');
    const refused = await post({}, { authorization: `Bearer ${secret}` });
    expect([refused.status, paid.upstream.requests.length]).to.deep.equal([402, 0]);
    await store.credit(poor.id, 1n, 'gift');
    expect((await post({}, { authorization: `Bearer ${secret}` })).status).to.equal(200);
  });

  it('sends passthrough fields, and names what it leaves out', async () => {
    const { headers } = await post({ model: 'open', sample_rate: 8_000, lang: 'no', speed: 2 });
    expect(headers.get('tollgate-ignored')).to.equal('lang');
    expect(paid.upstream.requests[0]?.json).to.deep.include({ sample_rate: 8_000, speed: 2 });
  });

  for (const [what, change, code, param] of [
    ['no input', { input: '' }, 'invalid_request', 'input'],
    ['no voice', { voice: undefined }, 'invalid_request', 'voice'],
    ['an unknown format', { response_format: 'ogg' }, 'invalid_request', 'response_format'],
    ['events', { stream_format: 'sse' }, 'invalid_request', 'stream_format'],
    ['too great a speed', { speed: 5 }, 'invalid_request', 'speed'],
    ['a model of another kind', { model: 'talk' }, 'unsupported_capability', 'model'],
  ] as const) {
    it(`refuses ${what}, naming the field`, async () => {
      const answer = await post(change);
      const error = errorOf(answer);
      expect([answer.status, error.code, error.param]).to.deep.equal([400, code, param]);
      expect(paid.upstream.requests).to.have.length(0);
    });
  }
});
