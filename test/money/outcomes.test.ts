import { expect } from 'chai';
import { TOKEN_CLASSES } from '../../src/core/usage.js';
import { chatJson, chatSse, sse, type Step } from '../helpers/upstream.js';
import {
  dataOf,
  HELLO,
  HELLO_MAX_NANO,
  scriptedGateways,
  onlyCharge,
  type ScriptedGateway,
  type Script,
} from './helpers/scripted-gateway.js';

const STREAM = { ...HELLO, stream: true };
/** "one two three" is three tokens; the prompt one, and four around it. */
const WORDS = ['one', ' two', ' three'];
const ESTIMATE = { usage: { prompt_tokens: 5, completion_tokens: 3 }, amount_nano: -2550n };

describe('the billing of a chat answer', () => {
  const open = scriptedGateways();

  function streamWith(usage: unknown): Step {
    const delta = (content: string): object => ({ choices: [{ index: 0, delta: { content } }] });
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    const last = usage === undefined ? [] : [{ choices: [], usage }];
    return sse([...WORDS.map(delta), end, ...last, 'data: [DONE]\n\n']);
  }

  const jsonWith = (usage: unknown): Step => chatJson(WORDS.join(''), { usage });

  const USAGES: [string, unknown][] = [
    ['missing', undefined],
    ['null', null],
    ['negative', { prompt_tokens: -9, completion_tokens: 5 }],
    ['fractional', { prompt_tokens: 9.5, completion_tokens: 5 }],
    ['text', { prompt_tokens: '9', completion_tokens: '5' }],
    ['half of it, which is nonsense', { prompt_tokens: -9 }],
    ['absurdly large', { prompt_tokens: 9, completion_tokens: 1e12 }],
    ['huge', { prompt_tokens: 1e300, completion_tokens: 1e300 }],
    ['past what a number can hold', { prompt_tokens: 2 ** 53, completion_tokens: 5 }],
    ['zero for an answer that has text', { prompt_tokens: 0, completion_tokens: 0 }],
    ['a list', [9, 5]],
  ];

  it('charges an answer by the usage of the upstream, to the nano-dollar', async () => {
    const gateway = await open(chatJson('Hello'));
    const response = await gateway.post(HELLO);
    const body = (await response.json()) as { id: string; usage: object };
    expect(response.status).to.equal(200);
    expect(body.usage).to.deep.equal({
      prompt_tokens: 9,
      completion_tokens: 5,
      total_tokens: 14,
    });
    const { id, created_ms, ...charge } = await onlyCharge(gateway);
    expect([id, created_ms].every(Number.isSafeInteger)).to.equal(true);
    expect({ ...charge, usage: JSON.parse(charge.usage ?? '') as unknown }).to.deep.equal({
      account_id: gateway.account.id,
      kind: 'charge',
      reference: body.id.replace('chatcmpl-', ''),
      amount_nano: -4350n,
      key_id: gateway.key_id,
      model: 'm',
      provider: 'up',
      upstream_model: 'm',
      usage: { prompt_tokens: 9, completion_tokens: 5 },
      estimated: false,
      ...Object.fromEntries(TOKEN_CLASSES.map((name) => [name, null])),
      uncollected_nano: 0n,
      saved_nano: null,
      lost_nano: null,
      cost_nano: 4350n,
      agent: 'node',
      refund_of: null,
    });
    expect(response.headers.get('x-request-id')).to.equal(charge.reference);
  });

  it('charges a stream the same way, once', async () => {
    const gateway = await open(chatSse(WORDS));
    const events = dataOf(await (await gateway.post(STREAM)).text());
    const { id, usage } = JSON.parse(events.at(-2) ?? '') as { id: string; usage: object };
    expect(events.at(-1)).to.equal('[DONE]');
    expect(usage).to.deep.equal({ prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 });
    const { amount_nano, estimated, reference } = await onlyCharge(gateway);
    expect({ amount_nano, estimated }).to.deep.equal({ amount_nano: -3150n, estimated: false });
    expect(id).to.equal(`chatcmpl-${reference}`);
  });

  for (const [name, usage] of USAGES) {
    it(`estimates an answer whose usage is ${name}`, async () => {
      const gateway = await open(jsonWith(usage));
      const body = (await (await gateway.post(HELLO)).json()) as { usage: object };
      expect(body.usage).to.deep.equal({ ...ESTIMATE.usage, total_tokens: 8 });
      await expectEstimate(gateway);
    });

    it(`estimates a stream whose usage is ${name}`, async () => {
      const gateway = await open(streamWith(usage));
      const events = dataOf(await (await gateway.post(STREAM)).text());
      const { usage: shown } = JSON.parse(events.at(-2) ?? '') as { usage: object };
      expect(shown).to.deep.equal({ ...ESTIMATE.usage, total_tokens: 8 });
      await expectEstimate(gateway);
    });
  }

  async function expectEstimate(gateway: ScriptedGateway): Promise<void> {
    const charge = await onlyCharge(gateway);
    expect(charge.estimated).to.equal(true);
    expect(charge.amount_nano).to.equal(ESTIMATE.amount_nano);
    expect(JSON.parse(charge.usage ?? '')).to.deep.equal(ESTIMATE.usage);
  }

  it('never estimates above the hold, however long the answer', async () => {
    const gateway = await open(chatJson('word '.repeat(2_000), { usage: null }));
    expect((await gateway.post(HELLO)).status).to.equal(200);
    const { amount_nano, usage } = await onlyCharge(gateway);
    expect(JSON.parse(usage ?? '')).to.deep.equal({ prompt_tokens: 5, completion_tokens: 100 });
    expect(-amount_nano <= HELLO_MAX_NANO, `${amount_nano}`).to.equal(true);
  });

  const IMAGE_USAGE = { prompt_tokens: 8_512, completion_tokens: 100 };
  const TRUE_NANO = 8_512n * 150n + 100n * 600n;
  for (const [name, script, body] of [
    ['an answer', jsonWith(IMAGE_USAGE), HELLO],
    ['a stream', streamWith(IMAGE_USAGE), STREAM],
  ] as const) {
    it(`charges the true cost of ${name} whose usage is beyond the hold`, async () => {
      const gateway = await open(script);
      const text = await (await gateway.post(body)).text();
      expect(text).to.include('"prompt_tokens":8512,"completion_tokens":100');
      const { amount_nano, estimated, uncollected_nano } = await onlyCharge(gateway);
      expect({ amount_nano, estimated, uncollected_nano }).to.deep.equal({
        amount_nano: -TRUE_NANO,
        estimated: false,
        uncollected_nano: 0n,
      });
    });

    it(`takes for ${name} beyond the hold what the account has, and notes the rest`, async () => {
      const gateway = await open(script, { credit: '0.0001' });
      expect((await gateway.post(body)).status).to.equal(200);
      const { amount_nano, uncollected_nano } = await onlyCharge(gateway);
      expect([amount_nano, uncollected_nano]).to.deep.equal([-100_000n, TRUE_NANO - 100_000n]);
    });

    it(`takes for ${name} beyond the hold what the key may spend, and notes the rest`, async () => {
      const gateway = await open(script, { terms: { limit_nano: 90_000n } });
      expect((await gateway.post(body)).status).to.equal(200);
      const { amount_nano, uncollected_nano } = await onlyCharge(gateway);
      expect([amount_nano, uncollected_nano]).to.deep.equal([-90_000n, TRUE_NANO - 90_000n]);
    });
  }

  it('shows more output than the limit that was sent, and charges the limit', async () => {
    const gateway = await open(jsonWith({ prompt_tokens: 9, completion_tokens: 1_000 }));
    const body = (await (await gateway.post(HELLO)).json()) as { usage: object };
    expect(body.usage).to.include({ completion_tokens: 1_000 });
    const { amount_nano, uncollected_nano } = await onlyCharge(gateway);
    expect([amount_nano, uncollected_nano]).to.deep.equal([-61_350n, 900n * 600n]);
  });
});

describe('the billing of a failed chat call', () => {
  const open = scriptedGateways();
  const never = new Promise<void>(() => undefined);
  const delta = { choices: [{ index: 0, delta: { content: 'one' } }] };

  const BEFORE: [string, Script, object][] = [
    ['500', { status: 500, body: '{"error":{"message":"no"}}' }, HELLO],
    ['an answer that never comes', { hold: never }, HELLO],
    ['a body that never comes', { chunks: [never] }, HELLO],
    ['a connection cut before the head', { destroyAfter: -1 }, HELLO],
    ['a connection cut after the head', { destroyAfter: 0 }, HELLO],
    ['a body cut in the middle', { chunks: ['{"choices":[{"ind'], destroyAfter: 1 }, HELLO],
    ['a 200 that carries an error', { body: '{"error":{"message":"no"}}' }, HELLO],
    ['an answer without choices', chatJson('', { choices: [] }), HELLO],
    ['a stream cut before its first byte', { destroyAfter: 0 }, STREAM],
    ['a stream that says nothing and ends', sse([]), STREAM],
    ['a stream that says [DONE] alone', sse(['data: [DONE]\n\n']), STREAM],
    ['a stream that never begins', { ...sse([]), chunks: [never] }, STREAM],
    ['a stream that begins with an error', sse([{ error: { message: 'no' } }, delta]), STREAM],
    ['a stream that begins with garbage', sse(['data: {"choi\n\n']), STREAM],
    ['comments and then a cut', { ...sse([': wait\n\n']), destroyAfter: 1 }, STREAM],
  ];
  for (const [name, script, request] of BEFORE) {
    it(`charges nothing for ${name}, and answers 502`, async () => {
      const isSilent = /never (?:comes|begins)/u.test(name);
      const provider = isSilent ? 'timeout: { first_byte: 100ms }' : '';
      const gateway = await open(script, { provider });
      const response = await gateway.post(request);
      const { error } = (await response.json()) as { error: { code: string; type: string } };
      expect(response.status).to.equal(502);
      expect(response.headers.get('content-type')).to.match(/^application\/json/);
      expect(error).to.include({ code: 'upstream_error', type: 'upstream_error' });
      await gateway.settled();
      expect(await gateway.charges()).to.deep.equal([]);
    });
  }

  const said = WORDS.map((content) => ({ choices: [{ index: 0, delta: { content } }] }));
  it('charges for a stream that is cut after the name of a tool call', async () => {
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'get_weather' } };
    const named = { choices: [{ index: 0, delta: { tool_calls: [call] } }] };
    const gateway = await open({ ...sse([named]), destroyAfter: 1 });
    expect(await (await gateway.post(STREAM)).text()).to.include('get_weather');
    const { estimated, usage } = await onlyCharge(gateway);
    expect(estimated).to.equal(true);
    expect(JSON.parse(usage ?? '')).to.deep.equal({ prompt_tokens: 5, completion_tokens: 2 });
  });

  const AFTER: [string, Step][] = [
    ['a closed connection', { ...sse(said), destroyAfter: 3 }],
    ['an end without a finish reason', sse(said)],
    ['an error event', sse([...said, { error: { message: 'sk-upstream-0123456789abcdef' } }])],
    ['silence', sse([...said, never])],
    ['garbage', sse([...said, 'data: }{\n\n'])],
    ['nonsense and no end', sse([...said, { choices: [], usage: { prompt_tokens: -9 } }])],
  ];
  for (const [name, script] of AFTER) {
    it(`charges what was delivered of a stream cut by ${name}`, async () => {
      const provider = name === 'silence' ? 'timeout: { idle: 1s }' : '';
      const gateway = await open(script, { provider });
      const response = await gateway.post(STREAM);
      const text = await response.text();
      const events = dataOf(text);
      expect(response.status).to.equal(200);
      const last = JSON.parse(events.at(-1) ?? '') as { error: { code: string } };
      expect(last.error.code).to.equal('upstream_error');
      expect(text).to.include('"content":" three"').and.not.include('[DONE]');
      expect(text).to.not.include('usage').and.not.include('sk-upstream');
      const charge = await onlyCharge(gateway);
      expect(charge.estimated).to.equal(true);
      expect(charge.amount_nano).to.equal(ESTIMATE.amount_nano);
    });
  }
});
