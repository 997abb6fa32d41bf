import { expect } from 'chai';
import { imagesOf, startImageGateway, type ImageGateway, json } from './helpers/image-gateway.js';
import { PNG } from './helpers/image-bytes.js';

describe('an image answer', () => {
  let gateway: ImageGateway;
  before(async () => {
    gateway = await startImageGateway();
  });
  after(() => gateway.close());
  afterEach(() => gateway.settled());

  it('has b64_json where the request asks for it', async () => {
    const { created, data, usage } = await gateway.images({ response_format: 'b64_json' });
    expect(created).to.equal(1_800_000_000);
    expect(data).to.deep.equal([{ b64_json: PNG.toString('base64'), revised_prompt: 'A cat' }]);
    expect(usage).to.deep.equal({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  });

  it('has a URL where the request names no format', async () => {
    const { data } = await gateway.images({ n: 2 });
    expect(data).to.have.length(2);
    for (const { url } of data)
      expect(url).to.match(/^http:\/\/127\.0\.0\.1:0\/images\/[\w-]{32}$/u);
    expect(new Set(data.map(({ url }) => url)).size).to.equal(2);
  });

  it("has the upstream's own words for a prompt it has changed, and its usage", async () => {
    gateway.paint = () =>
      json(200, {
        data: [{ b64_json: PNG.toString('base64'), revised_prompt: 'A fat cat' }],
        usage: { input_tokens: 12, output_tokens: 1_056, total_tokens: 1_068 },
      });
    const answer = await gateway.post({
      model: 'painter',
      prompt: 'A cat',
      response_format: 'b64_json',
    });
    const { data, usage } = imagesOf(answer);
    expect(data[0]?.revised_prompt).to.equal('A fat cat');
    expect(usage).to.deep.equal({
      prompt_tokens: 12,
      completion_tokens: 1_056,
      total_tokens: 1_068,
    });
    expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(answer.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/u);
  });
});
