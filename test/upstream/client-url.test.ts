import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { ask, chat, errorOf } from '../helpers/ask.js';

const REFUSED = [
  'file:///etc/passwd',
  'FILE:///etc/passwd',
  'gs://bucket/a.png',
  'ftp://example.com/a.png',
  'a.png',
  '',
  'http://',
  'http://127.0.0.1/a.png',
  'http://127.1:8080/a.png',
  'http://2130706433/',
  'https://localhost/a.png',
  'https://LOCALHOST./a.png',
  'http://[::1]/a.png',
  'http://[::ffff:10.0.0.1]/a.png',
  'http://169.254.169.254/latest/meta-data',
  'http://168.63.129.16/',
  'http://192.168.1.1/a.png',
  'http://db.internal/a.png',
  `https://example.com/${'a'.repeat(9_000)}`,
];
const TAKEN = [
  'https://example.com/a.png',
  'HTTP://8.8.8.8/a.png',
  'data:image/png;base64,iVBORw0KGgo=',
  `data:image/png;base64,${'A'.repeat(20_000)}`,
];

describe('the address of an image that a client names', () => {
  let acme: OpenaiGateway;
  before(async () => {
    acme = await startOpenaiGateway({
      models: `  acme-draw: { owner: acme, capabilities: [image], upstreams: [{ provider: acme }], passthrough: [reference], price: { per_image: 0.01 } }\n`,
    });
  });
  after(() => acme.close());

  const asked = (url: string) =>
    chat(acme, {
      model: 'acme-all',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
    });

  for (const url of REFUSED) {
    it(`is not passed on to an upstream: ${url.slice(0, 60)}`, async () => {
      const { length } = acme.upstream.requests;
      const answer = await asked(url);
      expect(answer.status).to.equal(400);
      expect(errorOf(answer)).to.deep.include({
        code: 'invalid_request',
        param: 'messages[0].content[1].image_url.url',
      });
      expect(acme.upstream.requests).to.have.length(length);
    });
  }

  for (const url of TAKEN) {
    it(`is passed on as it is: ${url.slice(0, 60)}`, async () => {
      expect((await asked(url)).status).to.equal(200);
      expect(JSON.stringify(acme.sent())).to.include(JSON.stringify(url));
    });
  }

  for (const reference of ['file:///etc/passwd', ['https://example.com/a.png', 'http://[::1]/']]) {
    it(`is not passed on in a field of another modality: ${JSON.stringify(reference)}`, async () => {
      const { length } = acme.upstream.requests;
      const answer = await ask(acme, '/v1/images/generations', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'acme-draw', prompt: 'A cat', reference }),
      });
      expect(answer.status).to.equal(400);
      expect(errorOf(answer).param).to.equal('reference');
      expect(acme.upstream.requests).to.have.length(length);
    });
  }
});
