import { expect } from 'chai';
import type { Charge, LedgerEntry } from '../../src/store/ledger/ledger-columns.js';
import { chatJson, sse, type Step } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';
import {
  HELLO,
  onlyCharge,
  scriptedGateways,
  type ScriptedGatewayOptions,
} from './helpers/scripted-gateway.js';

/** Of each class in nano-dollars a token: 1,000 for plain input, 40,000 for images that are made. */
const CLASSED =
  '{ input_per_million: 1, cached_input_per_million: 0.1, cache_write_per_million: 1.25, ' +
  'audio_input_per_million: 4, image_input_per_million: 2, output_per_million: 10, ' +
  'audio_output_per_million: 20, image_output_per_million: 40 }';

const USAGE = {
  prompt_tokens: 60,
  completion_tokens: 30,
  total_tokens: 90,
  prompt_tokens_details: {
    cached_tokens: 20,
    cache_write_tokens: 10,
    audio_tokens: 5,
    image_tokens: 6,
  },
  completion_tokens_details: { reasoning_tokens: 12, audio_tokens: 4, image_tokens: 7 },
};
const CLASSES: Partial<Charge> = {
  cached_tokens: 20,
  cache_write_tokens: 10,
  audio_input_tokens: 5,
  image_input_tokens: 6,
  audio_output_tokens: 4,
  image_output_tokens: 7,
  reasoning_tokens: 12,
};
const INPUT_NANO = 19n * 1_000n + 20n * 100n + 10n * 1_250n + 5n * 4_000n + 6n * 2_000n;
const COST_NANO = INPUT_NANO + 19n * 10_000n + 4n * 20_000n + 7n * 40_000n;

const CONTRACT = { prompt_tokens: 60, completion_tokens: 30, total_tokens: 90 };

function streamed(usage: object): Step {
  return sse([
    { choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage },
    'data: [DONE]\n\n',
  ]);
}

onEachStore('the charge of an answer whose tokens are of several classes', (ground) => {
  const startGateway = scriptedGateways();

  function open(script: Step, options: ScriptedGatewayOptions = {}) {
    return startGateway(script, { price: CLASSED, store: ground.place.url, ...options });
  }

  function expectCharge(charge: LedgerEntry, cost_nano: bigint, classes: Partial<Charge>): void {
    expect(charge.amount_nano).to.equal(-cost_nano);
    expect(charge.estimated).to.equal(false);
    expect(charge).to.deep.include(classes);
    const usage: unknown = JSON.parse(charge.usage ?? '');
    expect(usage).to.deep.equal({ prompt_tokens: 60, completion_tokens: 30 });
  }

  it('is the sum over the classes, which the ledger keeps and the contract does not show', async () => {
    const gateway = await open(chatJson('Hello', { usage: USAGE }));
    const answer = (await (await gateway.post(HELLO)).json()) as { usage: object };
    expect(answer.usage).to.deep.equal(CONTRACT);
    expectCharge(await onlyCharge(gateway), COST_NANO, CLASSES);
  });

  it('is the same for a stream', async () => {
    const gateway = await open(streamed(USAGE));
    const text = await (await gateway.post({ ...HELLO, stream: true })).text();
    expect(text).to.include(`"usage":${JSON.stringify(CONTRACT)}`);
    expectCharge(await onlyCharge(gateway), COST_NANO, CLASSES);
  });

  it('is that of input and output where the classes have no price, and they are kept', async () => {
    const price = '{ input_per_million: 1, output_per_million: 10 }';
    const gateway = await open(chatJson('Hello', { usage: USAGE }), { price });
    await gateway.post(HELLO);
    expectCharge(await onlyCharge(gateway), 60n * 1_000n + 30n * 10_000n, CLASSES);
  });

  it('is that of the two figures where a class is absurd, which the ledger leaves out', async () => {
    const prompt_tokens_details = { cached_tokens: 61, audio_tokens: -5, image_tokens: 61 };
    const usage = { ...USAGE, prompt_tokens_details, completion_tokens_details: 'none' };
    const gateway = await open(chatJson('Hello', { usage }));
    await gateway.post(HELLO);
    const none = Object.fromEntries(Object.keys(CLASSES).map((name) => [name, null]));
    expectCharge(await onlyCharge(gateway), 60n * 1_000n + 30n * 10_000n, none);
  });
});
