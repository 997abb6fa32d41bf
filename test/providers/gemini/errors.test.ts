import { expect } from 'chai';
import { chat, completionOf, errorOf, type Answer } from '../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { answer } from '../../helpers/gemini.js';
import { startUpstream, type FakeUpstream, type Step } from '../../helpers/upstream.js';

const KEY = 'AIza-test-0123456789';
const JSON_TYPE = { 'content-type': 'application/json' };

function refusal(code: number, message: string, status: string, details: object[] = []): Step {
  const body = JSON.stringify({ error: { code, message, status, details } });
  return { status: code, headers: JSON_TYPE, body };
}

const BAD_KEY = refusal(400, `API key not valid: ${KEY}`, 'INVALID_ARGUMENT', [
  { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
]);
const WRONG_PLACE = refusal(
  400,
  'User location is not supported for the API use.',
  'FAILED_PRECONDITION',
);

for (const provider of ['gemini', 'vertex']) {
  describe(`an error of the provider ${provider}`, () => {
    let step: Step;
    let upstream: FakeUpstream;
    let next: FakeUpstream;
    let gateway: TestGateway;
    beforeEach(async () => {
      upstream = await startUpstream((_, response) => {
        response.writeHead(step.status ?? 200, step.headers);
        response.end(step.body);
      });
      next = await startUpstream({
        headers: JSON_TYPE,
        body: JSON.stringify(answer([{ text: 'Hi' }])),
      });
      const model = (name: string, upstreams: string) => `
  ${name}:
    owner: g
    capabilities: [chat, vision]
    price: { input_per_million: 1, output_per_million: 2 }
    upstreams: [${upstreams}]`;
      const one = '{ provider: one, model: gemini-2.5-flash }';
      gateway = await startGateway(`owners: { g: { name: G } }
providers:
  one: { uses: ${provider}, api_key: ${KEY}, base_url: "${upstream.url}" }
  two: { uses: ${provider}, api_key: ${KEY}, base_url: "${next.url}" }
models:${model('alone', one)}${model('both', `${one}, { provider: two, model: gemini-2.5-flash }`)}
`);
    });
    afterEach(async () => {
      await gateway.close();
      await next.close();
      await upstream.close();
    });

    const ask = async (model: string): Promise<Answer> =>
      chat(gateway, { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 });

    it('is no fault of the client where a bad key is a 400 (quirk 14)', async () => {
      step = BAD_KEY;
      const told = await ask('alone');
      expect([told.status, errorOf(told).code]).to.deep.equal([502, 'upstream_error']);
      expect(told.text).to.not.include(KEY);
      expect(completionOf(await ask('both')).choices[0]?.message.content).to.equal('Hi');
    });

    it('goes to the next upstream where the gateway stands in the wrong country', async () => {
      step = WRONG_PLACE;
      expect((await ask('alone')).status).to.equal(502);
      expect(completionOf(await ask('both')).choices[0]?.message.content).to.equal('Hi');
    });

    it('says when to come back, from the delay in its body (quirk 27)', async () => {
      step = refusal(429, 'Quota exceeded.', 'RESOURCE_EXHAUSTED', [
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' },
      ]);
      const told = await ask('alone');
      expect([told.status, told.headers.get('retry-after')]).to.deep.equal([502, '35']);
    });

    it('says that a prompt is too long', async () => {
      const message =
        'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).';
      step = refusal(400, message, 'INVALID_ARGUMENT');
      const told = await ask('alone');
      expect([told.status, errorOf(told).code]).to.deep.equal([400, 'context_length_exceeded']);
    });

    for (const blockReason of ['SAFETY', 'PROHIBITED_CONTENT', 'MODEL_ARMOR']) {
      it(`is a refused prompt where a 200 was blocked by ${blockReason} (quirk 15)`, async () => {
        step = { headers: JSON_TYPE, body: JSON.stringify({ promptFeedback: { blockReason } }) };
        const told = await ask('both');
        expect([told.status, errorOf(told).code]).to.deep.equal([400, 'content_policy_violation']);
        expect(next.requests).to.deep.equal([]);
      });
    }
  });
}
