import { expect } from 'chai';
import { chatJson, play, sse, type Step } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';
import {
  HELLO,
  onlyCharge,
  scriptedGateways,
  type Script,
  type ScriptedGatewayOptions,
} from './helpers/scripted-gateway.js';

/** In nano-dollars a token: 1,000 in and 10,000 out, or as the tier, the hour or the class says. */
const PRICE = `{
  input_per_million: 1, output_per_million: 10,
  cache_write_per_million: 1.25, cache_write_1h_per_million: 2,
  tiers: {
    flex: { input_per_million: 0.5, output_per_million: 5 },
    priority: { input_per_million: 2, output_per_million: 20 } },
  off_peak: { from: "16:30", to: "00:30", output_per_million: 6 },
  per_tool_call: { web_search: 0.01 },
  per_request: 0.001 }`.replaceAll('\n', '');
const FEE_NANO = 1_000_000n;

const USAGE = { prompt_tokens: 40, completion_tokens: 10, total_tokens: 50 };
const NOON = '2026-07-01T12:00:00Z';

onEachStore('the charge of a call whose price depends on more than tokens', (ground) => {
  const startGateway = scriptedGateways();

  function open(script: Script, options: ScriptedGatewayOptions & { time?: string } = {}) {
    const { time = NOON, ...rest } = options;
    const now = (): number => Date.parse(time);
    return startGateway(script, { price: PRICE, store: ground.place.url, now, ...rest });
  }

  function stream(usage: object, more: object = {}): Step {
    return sse([
      { ...more, choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] },
      { ...more, choices: [], usage },
      'data: [DONE]\n\n',
    ]);
  }

  it('has a fee for the request beside its tokens', async () => {
    const gateway = await open(chatJson('Hello', { usage: USAGE }));
    await gateway.post(HELLO);
    const charge = await onlyCharge(gateway);
    expect(charge.amount_nano).to.equal(-(40n * 1_000n + 10n * 10_000n + FEE_NANO));
  });

  it('has a fee for each call that makes the choices', async () => {
    const gateway = await open(chatJson('Hello', { usage: USAGE }), { uses: 'deepseek' });
    await gateway.post({ ...HELLO, n: 2 });
    const charge = await onlyCharge(gateway);
    expect(charge.amount_nano).to.equal(-2n * (40n * 1_000n + 10n * 10_000n + FEE_NANO));
  });

  it('is by the tier that the answer names, which the ledger keeps', async () => {
    const gateway = await open(chatJson('Hello', { usage: USAGE, service_tier: 'flex' }));
    await gateway.post(HELLO);
    const charge = await onlyCharge(gateway);
    expect(charge.amount_nano).to.equal(-(40n * 500n + 10n * 5_000n + FEE_NANO));
    expect(JSON.parse(charge.usage ?? '')).to.deep.equal({
      prompt_tokens: 40,
      completion_tokens: 10,
      service_tier: 'flex',
    });
  });

  it('is by the tier that the answer names, not by the one that was set', async () => {
    const upstreams = '{ provider: up, set: { service_tier: priority } }';
    const answer = chatJson('Hello', { usage: USAGE, service_tier: 'default' });
    const gateway = await open(answer, { upstreams });
    await gateway.post(HELLO);
    const charge = await onlyCharge(gateway);
    expect(charge.amount_nano).to.equal(-(40n * 1_000n + 10n * 10_000n + FEE_NANO));
  });

  it('is by the tier that was set where the answer names none', async () => {
    const upstreams = '{ provider: up, set: { service_tier: priority } }';
    const gateway = await open(chatJson('Hello', { usage: USAGE }), { upstreams });
    await gateway.post(HELLO);
    const charge = await onlyCharge(gateway);
    expect(charge.amount_nano).to.equal(-(40n * 2_000n + 10n * 20_000n + FEE_NANO));
  });

  it('is by the tier of a stream', async () => {
    const gateway = await open(stream(USAGE, { service_tier: 'priority' }));
    await (await gateway.post({ ...HELLO, stream: true })).text();
    const charge = await onlyCharge(gateway);
    expect(charge.amount_nano).to.equal(-(40n * 2_000n + 10n * 20_000n + FEE_NANO));
  });

  const HOURS: [string, string, bigint][] = [
    ['before the off-peak hours', '2026-07-01T16:29:59.999Z', 10_000n],
    ['from their first moment', '2026-07-01T16:30:00.000Z', 6_000n],
    ['to their last', '2026-07-02T00:29:59.999Z', 6_000n],
    ['after them', '2026-07-02T00:30:00.000Z', 10_000n],
  ];
  for (const [name, time, output_nano] of HOURS) {
    it(`is at ${output_nano} nano-dollars a token of output ${name}`, async () => {
      const gateway = await open(chatJson('Hello', { usage: USAGE }), { time });
      await gateway.post(HELLO);
      const charge = await onlyCharge(gateway);
      expect(charge.amount_nano).to.equal(-(40n * 1_000n + 10n * output_nano + FEE_NANO));
    });
  }

  it('is by the hour at which the call began, not by that of its end', async () => {
    let time = Date.parse('2026-07-02T00:29:59Z');
    const gateway = await open(
      (_, response) => {
        time += 60_000;
        return play(chatJson('Hello', { usage: USAGE }), response);
      },
      { now: () => time },
    );
    await gateway.post(HELLO);
    const charge = await onlyCharge(gateway);
    expect(charge.amount_nano).to.equal(-(40n * 1_000n + 10n * 6_000n + FEE_NANO));
  });

  it('has each call of a tool that the upstream ran, which the ledger counts', async () => {
    const usage = { ...USAGE, server_tool_use: { web_search_requests: 3 } };
    const gateway = await open(chatJson('Hello', { usage }));
    await gateway.post(HELLO);
    const charge = await onlyCharge(gateway);
    const tokens_nano = 40n * 1_000n + 10n * 10_000n;
    expect(charge.amount_nano).to.equal(-(tokens_nano + 30_000_000n + FEE_NANO));
    expect(JSON.parse(charge.usage ?? '')).to.deep.include({ tool_calls: { web_search: 3 } });
  });

  // 85 tokens for the prompt, of which all may be written, and 100 for the answer.
  const HELD_NANO = 85n * 2_000n + 100n * 20_000n + FEE_NANO;
  for (const [credit_nano, status] of [
    [HELD_NANO - 1n, 402],
    [HELD_NANO, 200],
  ] as const) {
    it(`is held for at the dearest tier, with the fee: ${credit_nano} give ${status}`, async () => {
      const credit = `0.00${credit_nano}`;
      const gateway = await open(chatJson('Hello', { usage: USAGE }), { credit });
      const answer = await gateway.post({ ...HELLO, max_tokens: 100 });
      expect(answer.status).to.equal(status);
    });
  }

  it('is held for at the plain prices where the upstream is told to serve by them', async () => {
    const upstreams = '{ provider: up, set: { service_tier: default } }';
    const held_nano = 85n * 2_000n + 100n * 10_000n + FEE_NANO;
    const credit = `0.00${held_nano}`;
    const gateway = await open(chatJson('Hello', { usage: USAGE }), { credit, upstreams });
    const answer = await gateway.post({ ...HELLO, max_tokens: 100 });
    expect(answer.status).to.equal(200);
  });
});

onEachStore('the charge of what was written into a cache', (ground) => {
  const startGateway = scriptedGateways();

  it('is apart for an hour, and counts no token twice', async () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    };
    const body = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      usage,
    };
    const answer = { status: 200, body: JSON.stringify(body) };
    const price =
      '{ input_per_million: 1, cache_write_per_million: 1.25, cache_write_1h_per_million: 2, ' +
      'output_per_million: 10 }';
    const options = { uses: 'anthropic', price, store: ground.place.url };
    const gateway = await startGateway(answer, options);
    await gateway.post(HELLO);
    const charge = await onlyCharge(gateway);
    const cost_nano = 10n * 1_000n + 10n * 1_250n + 20n * 2_000n + 10n * 10_000n;
    expect(charge.amount_nano).to.equal(-cost_nano);
    expect(charge).to.include({ cache_write_tokens: 10, cache_write_1h_tokens: 20 });
    expect(charge.saved_nano).to.equal(-(10n * 250n + 20n * 1_000n));
  });
});
