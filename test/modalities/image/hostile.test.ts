import { expect } from 'chai';
import fc from 'fast-check';
import { errorOf } from '../../helpers/ask.js';
import { imagesOf, json, startImageGateway, type ImageGateway } from './helpers/image-gateway.js';
import { PNG } from './helpers/image-bytes.js';

const text = fc.oneof(
  fc.string(),
  fc.webUrl(),
  fc.constant(PNG.toString('base64')),
  fc.constant(`data:image/png;base64,${PNG.toString('base64')}`),
  fc.constantFrom(
    'http://127.0.0.1:1/',
    'http://[::1]/',
    'file:///etc/passwd',
    'javascript:alert(1)',
  ),
);
const value = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }));
const image = fc.dictionary(fc.constantFrom('url', 'b64_json', 'revised_prompt'), value);
const usage = fc.dictionary(
  fc.constantFrom('input_tokens', 'output_tokens', 'total_tokens', 'prompt_tokens'),
  fc.oneof(fc.integer(), fc.double(), fc.string()),
);
const body = fc.record(
  { data: fc.oneof(fc.array(image, { maxLength: 4 }), value), usage: fc.oneof(usage, value) },
  { requiredKeys: [] },
);

describe('a hostile image upstream', () => {
  let gateway: ImageGateway;
  before(async () => {
    const price = '{ per_image: 0.000001, input_per_million: 0.01, output_per_million: 0.01 }';
    gateway = await startImageGateway({
      models: `  cheap: { owner: acme, capabilities: [image], upstreams: [{ provider: first }], price: ${price} }`,
    });
  });
  after(() => gateway.close());

  it('gives the client valid images or one error, and the ledger adds up', async () => {
    let said: object = {};
    gateway.paint = ({ path }) =>
      path === '/images/generations' ? json(200, said) : { body: PNG };
    // What is to be fetched from elsewhere is not: that would be a call to the real Internet.
    const response_format = 'url';
    await fc.assert(
      fc.asyncProperty(body, async (answer) => {
        said = answer;
        const got = await gateway.post({ model: 'cheap', prompt: 'A cat', n: 2, response_format });
        if (got.status === 200) expect(imagesOf(got).data.length).to.be.within(1, 2);
        else {
          expect(got.status, got.text).to.be.oneOf([400, 502]);
          errorOf(got);
        }
      }),
      { numRuns: 150 },
    );
    await gateway.settled();
  });
});
