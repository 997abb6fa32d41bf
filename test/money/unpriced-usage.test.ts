import { expect } from 'chai';
import { pino } from 'pino';
import { chatJson, sse, type Step } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';
import { HELLO, scriptedGateways } from './helpers/scripted-gateway.js';

const USAGE = {
  prompt_tokens: 60,
  completion_tokens: 30,
  prompt_tokens_details: { cached_tokens: 20 },
  completion_tokens_details: { image_tokens: 7 },
  server_tool_use: { web_search_requests: 2 },
};
const UNITS = [
  'cached_input_per_million',
  'image_output_per_million',
  'tiers.priority',
  'per_tool_call.web_search',
];

const STREAM: Step = sse([
  { service_tier: 'priority', choices: [{ index: 0, delta: { content: 'Hello' } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: USAGE },
  'data: [DONE]\n\n',
]);

onEachStore('what an upstream reports that no price covers', (ground) => {
  const startGateway = scriptedGateways();

  it('is told once in the log, whole and streamed, and nothing is lost', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    const whole = chatJson('Hello', { usage: USAGE, service_tier: 'priority' });
    const gateway = await startGateway([STREAM, whole, whole], {
      log,
      store: ground.place.url,
    });
    await (await gateway.post({ ...HELLO, stream: true })).text();
    await (await gateway.post(HELLO)).text();
    await (await gateway.post(HELLO)).text();
    await gateway.settled();
    const told = lines.filter((line) => line.includes('no price covers'));
    expect(told).to.have.length(1);
    expect(JSON.parse(told[0] ?? '')).to.deep.include({
      level: 40,
      provider: 'up',
      model: 'm',
      units: UNITS,
    });
    const charges = await gateway.charges();
    expect(charges.map(({ amount_nano }) => amount_nano)).to.deep.equal(
      Array(3).fill(-(60n * 150n + 30n * 600n)),
    );
  });
});
