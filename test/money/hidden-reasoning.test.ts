import { expect } from 'chai';
import { sse } from '../helpers/upstream.js';
import {
  HELLO,
  INPUT_NANO,
  onlyCharge,
  OUTPUT_NANO,
  scriptedGateways,
  type ScriptedGateway,
} from './helpers/scripted-gateway.js';
import {
  DELIVERED_NANO,
  delta,
  DRAIN,
  never,
  readAndDisconnect,
  STREAM,
} from './helpers/disconnecting.js';

const WORDS = 40;
/** Reasoning of as many tokens, which this model does not show to clients. */
const THOUGHT = {
  choices: [{ index: 0, delta: { reasoning_content: ' hello'.repeat(WORDS) } }],
};
const LINGER = { settings: 'limits: { linger: 50ms }' };
const DRAINED = { provider: DRAIN, settings: 'limits: { drain: 50ms }' };
const THOUGHT_NANO = BigInt(WORDS) * OUTPUT_NANO;

describe('an answer without usage and with hidden reasoning', () => {
  const open = scriptedGateways();
  const TWO_TOKENS_NANO = 2n * OUTPUT_NANO;

  it('is charged with the reasoning of its stream', async () => {
    const stop = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    const deltas = [THOUGHT, delta('one two'), stop, 'data: [DONE]\n\n'];
    const gateway = await open(sse(deltas));
    await (await gateway.post(STREAM)).text();
    expect((await onlyCharge(gateway)).amount_nano).to.equal(DELIVERED_NANO - THOUGHT_NANO);
  });

  for (const n of [1, 2]) {
    it(`is charged with the reasoning of ${n} whole choices`, async () => {
      const message = { content: 'one two', reasoning_content: ' hello'.repeat(WORDS) };
      const body = JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] });
      const step = { headers: { 'content-type': 'application/json' }, body };
      // This manifest makes a call for each choice.
      const gateway = await open(step, { uses: n === 1 ? 'openai' : 'perplexity' });
      await gateway.post({ ...HELLO, n });
      const more = BigInt(n - 1) * (5n * INPUT_NANO + TWO_TOKENS_NANO);
      const expected = DELIVERED_NANO - more - BigInt(n) * THOUGHT_NANO;
      expect((await onlyCharge(gateway)).amount_nano).to.equal(expected);
    });
  }
});

describe('a client that leaves a stream before its usage comes', () => {
  const open = scriptedGateways();

  for (const [name, options] of [
    ['stops billing on abort', LINGER],
    ['bills on', DRAINED],
  ] as const) {
    describe(`from an upstream that ${name}`, () => {
      it('does not get the reasoning before the answer for nothing', async () => {
        const gateway = await open(sse([THOUGHT, delta('one'), delta(' two'), never]), options);
        await readAndDisconnect(gateway);
        const { amount_nano, estimated } = await onlyCharge(gateway);
        expect(estimated).to.equal(true);
        expect(amount_nano).to.equal(DELIVERED_NANO - THOUGHT_NANO);
      });

      it('pays the usage that the upstream has reported so far', async () => {
        const usage = { prompt_tokens: 9, completion_tokens: 80 };
        const soFar = { ...delta(' two'), usage };
        const gateway = await open(sse([delta('one'), soFar, never]), options);
        await readAndDisconnect(gateway);
        const { amount_nano, estimated } = await onlyCharge(gateway);
        expect({ amount_nano, estimated }).to.deep.equal({
          amount_nano: -(9n * INPUT_NANO + 80n * OUTPUT_NANO),
          estimated: true,
        });
      });

      it('pays for hidden reasoning also if it leaves before the answer', async () => {
        const gateway = await open(sse([THOUGHT, never]), options);
        await leaveOnceBegun(gateway);
        const { usage } = await onlyCharge(gateway);
        expect(JSON.parse(usage ?? '')).to.include({ completion_tokens: WORDS });
      });

      it('never pays for more reasoning than the limit that was sent', async () => {
        const long = { choices: [{ delta: { reasoning_content: ' hello'.repeat(500) } }] };
        const gateway = await open(sse([long, delta('one'), delta(' two'), never]), options);
        await readAndDisconnect(gateway);
        const { usage } = await onlyCharge(gateway);
        expect(JSON.parse(usage ?? '')).to.include({ completion_tokens: 100 });
      });
    });
  }
});

/** Asks, waits for the head of the stream, which follows the first delta, and goes. */
async function leaveOnceBegun(gateway: ScriptedGateway): Promise<void> {
  const leaving = new AbortController();
  await gateway.post(STREAM, { signal: leaving.signal });
  leaving.abort();
}
