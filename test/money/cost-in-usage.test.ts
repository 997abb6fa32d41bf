import { expect } from 'chai';
import { startPaidGateway, type PaidGateway } from '../helpers/paid-gateway.js';
import { chatJson, chatSse } from '../helpers/upstream.js';

const MODELS = `
  m:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: up, model: up-m }]
    price: { input_per_million: 1, output_per_million: 2 }
`;
const USAGE = { usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 } };
const HELLO = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const STREAM = { stream: true, stream_options: { include_usage: true } };

/** The last usage of an answer, whole or streamed. */
function usageIn(text: string): Record<string, unknown> {
  const bodies = text.startsWith('data: ')
    ? text.split('\n\n').flatMap((event) => (event.includes('{') ? [event.slice(6)] : []))
    : [text];
  return (JSON.parse(bodies.at(-1) ?? '') as { usage: Record<string, unknown> }).usage;
}

for (const isOn of [true, false]) {
  describe(`usage with limits.cost_in_usage ${isOn ? 'on' : 'off'}`, () => {
    let paid: PaidGateway;
    before(async () => {
      paid = await startPaidGateway(MODELS, { settings: `limits: { cost_in_usage: ${isOn} }` });
    });
    after(() => paid.close());

    const charged = async () => Number((await paid.charged()).at(-1)) / 1e9;

    for (const path of ['/openai/v1/chat/completions', '/openai/v1/completions']) {
      const body = path.endsWith('chat/completions') ? HELLO : { model: 'm', prompt: 'Hi' };

      it(`${isOn ? 'shows' : 'hides'} the cost that the ledger has, whole and streamed, at ${path}`, async () => {
        paid.step = chatJson('Hi', USAGE);
        const whole = await paid.post(path, body);
        expect(whole.status, whole.text).to.equal(200);
        expect(usageIn(whole.text).cost).to.equal(isOn ? await charged() : undefined);
        paid.step = chatSse(['Hi', ' there']);
        const streamed = await paid.post(path, { ...body, ...STREAM });
        expect(streamed.status, streamed.text).to.equal(200);
        expect(usageIn(streamed.text).cost).to.equal(isOn ? await charged() : undefined);
      });
    }

    it('never has the cost in the contract of the specification', async () => {
      paid.step = chatJson('Hi', USAGE);
      const { text } = await paid.post('/v1/chat/completions', HELLO);
      expect(usageIn(text)).to.have.all.keys('prompt_tokens', 'completion_tokens', 'total_tokens');
    });
  });
}
