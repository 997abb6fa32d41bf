import { expect } from 'chai';
import { startPaidGateway, type PaidGateway } from '../helpers/paid-gateway.js';

/** Far more tokens than an image takes. */
const TEXT = Buffer.from('A long report. '.repeat(100_000)).toString('base64');
const MODELS = `  m:
    owner: acme
    capabilities: [chat, vision, file]
    upstreams: [{ provider: up, model: gemini-3.5-flash }]
    limits: { max_tokens: 100, context: 1000000 }
    price: { input_per_million: 1, output_per_million: 2 }`;
const ANSWER = JSON.stringify({
  candidates: [{ content: { parts: [{ text: 'Read.' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 400_000, candidatesTokenCount: 2 },
});

describe('a file that a client calls an image', () => {
  let gateway: PaidGateway;
  before(async () => {
    const headers = { 'content-type': 'application/json' };
    gateway = await startPaidGateway(MODELS, {
      uses: 'gemini',
      step: { headers, body: ANSWER },
    });
  });
  after(() => gateway.close());

  for (const head of [
    'data:text/plain;base64,',
    'data:application/pdf;base64,',
    'data:video/mp4;base64,',
    'DATA:Text/Plain;base64,',
    'data: text/plain;base64,',
    'data:text/plain;x=image/png;base64,',
  ]) {
    const url = head + TEXT;
    const image_url = { type: 'image_url', image_url: { url } };
    const source = { type: 'base64', media_type: head.slice(5, -8), data: TEXT };
    const CALLS: [string, object][] = [
      ['/v1/chat/completions', { messages: [{ role: 'user', content: [image_url] }] }],
      [
        '/v1/messages',
        {
          max_tokens: 10,
          messages: [{ role: 'user', content: [{ type: 'image', source }] }],
        },
      ],
      [
        '/v1/responses',
        { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] },
      ],
    ];
    for (const [path, body] of CALLS) {
      it(`is not read at the price of one: ${head} at ${path}`, async () => {
        const { status } = await gateway.post(path, { model: 'm', ...body });
        expect(status).to.equal(400);
        expect(gateway.upstream.requests).to.have.length(0);
      });
    }
  }

  it('is held for by its length where it is sent as the file that it is', async () => {
    const file = { type: 'file', file: { file_data: `data:text/plain;base64,${TEXT}` } };
    const messages = [{ role: 'user', content: [file] }];
    const { status } = await gateway.post('/v1/chat/completions', { model: 'm', messages });
    expect(status).to.equal(200);
    expect(await gateway.charged()).to.deep.equal([400_000n * 1_000n + 2n * 2_000n]);
  });
});
