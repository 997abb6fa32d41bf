import { GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import { ask } from '../helpers/ask.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';

const CONFIG = {
  responseMimeType: 'text/x.enum',
  responseSchema: { type: 'STRING', enum: ['Percussion', 'Brass'] },
};
const ASKED = { model: 'sim', contents: 'Which instrument?', config: CONFIG };

describe('the @google/genai package, before the simulator', () => {
  let gateway: TestGateway;
  let client: GoogleGenAI;

  before(async () => {
    gateway = await startGateway(`owners: { me: { name: Me } }
providers: { simulator: {} }
models:
  sim: { owner: me, capabilities: [chat, tools], upstreams: [{ provider: simulator }], price: { input_per_million: 1, output_per_million: 2 } }
`);
    client = new GoogleGenAI({
      apiKey: gateway.secret,
      httpOptions: { baseUrl: gateway.url },
    });
  });
  after(() => gateway.close());

  it('an answer out of an enum was 400', async () => {
    const { text } = await client.models.generateContent(ASKED);
    expect(text).to.be.oneOf(CONFIG.responseSchema.enum);
  });

  it('an answer out of an enum comes in one part of a stream', async () => {
    const texts: string[] = [];
    for await (const { text } of await client.models.generateContentStream(ASKED)) {
      if (text) texts.push(text);
    }
    expect(texts).to.have.length(1);
    expect(texts[0]).to.be.oneOf(CONFIG.responseSchema.enum);
  });

  it('a colon that the client had encoded was 405', async () => {
    for (const method of ['generateContent', 'streamGenerateContent', 'countTokens']) {
      const answer = await ask(gateway, `/v1beta/models/sim%3A${method}?alt=sse`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] }),
      });
      expect(answer.status, answer.text).to.equal(200);
    }
    const unknown = await ask(gateway, '/v1beta/models/sim%3Apredict', { method: 'POST' });
    expect(JSON.parse(unknown.text)).to.have.nested.property('error.status', 'NOT_FOUND');
  });
});
