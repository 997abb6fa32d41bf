import { expect } from 'chai';
import { chatJson, sse, type Step } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';
import {
  HELLO,
  onlyCharge,
  scriptedGateways,
  type ScriptedGatewayOptions,
} from './helpers/scripted-gateway.js';

/** In nano-dollars a token: 1,000 in, 100 cached, 10,000 out; behind a long prompt 2,000 and 15,000. */
const PRICE =
  '{ input_per_million: 1, cached_input_per_million: 0.1, output_per_million: 10, ' +
  'long_prompt: { above_tokens: 60, input_per_million: 2, output_per_million: 15 } }';

function usage(prompt_tokens: number, cached_tokens = 0): object {
  return {
    prompt_tokens,
    completion_tokens: 10,
    total_tokens: prompt_tokens + 10,
    prompt_tokens_details: { cached_tokens },
  };
}

onEachStore('the charge of a model whose long prompts have prices of their own', (ground) => {
  const startGateway = scriptedGateways();

  function open(script: Step, options: ScriptedGatewayOptions = {}) {
    return startGateway(script, { price: PRICE, store: ground.place.url, ...options });
  }

  it('is at the other prices up to the length that stands there', async () => {
    const gateway = await open(chatJson('Hello', { usage: usage(60) }));
    await gateway.post(HELLO);
    expect((await onlyCharge(gateway)).amount_nano).to.equal(-(60n * 1_000n + 10n * 10_000n));
  });

  it('is for all tokens at the prices of a long prompt above it', async () => {
    const gateway = await open(chatJson('Hello', { usage: usage(61) }));
    await gateway.post(HELLO);
    expect((await onlyCharge(gateway)).amount_nano).to.equal(-(61n * 2_000n + 10n * 15_000n));
  });

  it('keeps the price of a class that a long prompt does not change', async () => {
    const gateway = await open(chatJson('Hello', { usage: usage(61, 21) }));
    await gateway.post(HELLO);
    const cost_nano = 40n * 2_000n + 21n * 100n + 10n * 15_000n;
    expect((await onlyCharge(gateway)).amount_nano).to.equal(-cost_nano);
  });

  it('is the same for a stream', async () => {
    const gateway = await open(
      sse([
        { choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] },
        { choices: [], usage: usage(61) },
        'data: [DONE]\n\n',
      ]),
    );
    await (await gateway.post({ ...HELLO, stream: true })).text();
    expect((await onlyCharge(gateway)).amount_nano).to.equal(-(61n * 2_000n + 10n * 15_000n));
  });

  it('judges each prompt by itself where several calls make the choices', async () => {
    const gateway = await open(chatJson('Hello', { usage: usage(40) }), { uses: 'deepseek' });
    const answer = await gateway.post({ ...HELLO, n: 2 });
    expect(answer.status).to.equal(200);
    expect(gateway.upstream.requests).to.have.lengthOf(2);
    expect((await onlyCharge(gateway)).amount_nano).to.equal(-(80n * 1_000n + 20n * 10_000n));
  });

  it('is held for at the prices of a long prompt if the prompt may be one', async () => {
    // 64 + 16 + 5 tokens for the prompt, 100 for the answer.
    const held_nano = 85n * 2_000n + 100n * 15_000n;
    const credit = `0.00${held_nano - 1n}`;
    const gateway = await open(chatJson('Hello', { usage: usage(61) }), { credit });
    const answer = await gateway.post({ ...HELLO, max_tokens: 100 });
    expect(answer.status).to.equal(402);
    expect(gateway.upstream.requests).to.have.lengthOf(0);
  });

  it('is held for at the other prices if the prompt is surely a short one', async () => {
    const credit = `0.00${85n * 1_000n + 100n * 10_000n}`;
    const price = PRICE.replace('60', '85');
    const gateway = await open(chatJson('Hello', { usage: usage(60) }), { credit, price });
    const answer = await gateway.post({ ...HELLO, max_tokens: 100 });
    expect(answer.status).to.equal(200);
  });
});
