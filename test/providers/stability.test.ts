import { expect } from 'chai';
import {
  PNG,
  refusal,
  startMedia,
  UPSTREAM_KEY,
  type MediaHouse,
  type Say,
} from '../mapping/helpers/manifest-gateway.js';

const made = (more: object = {}): Say => ({
  json: { image: PNG, finish_reason: 'SUCCESS', seed: 7, ...more },
});
const refused = (status: number, name: string, ...errors: string[]): Say => ({
  status,
  json: { id: 'e1', name, errors },
});

describe('the manifest of Stability AI', () => {
  let house: MediaHouse;
  const draw = (body: object = {}) => house.draw({ response_format: 'b64_json', ...body });

  beforeEach(async () => {
    house = await startMedia({
      provider: 'uses: stability',
      model: 'core',
      script: () => made(),
      capability: 'image',
    });
  });
  afterEach(() => house.close());

  it('sends a true multipart form though there is no file in it', async () => {
    const { status, text } = await draw({ size: '1920x1088', seed: 7 });
    expect(status, text).to.equal(200);
    const [request] = house.upstream.requests;
    expect(request?.path).to.equal('/v2beta/stable-image/generate/core');
    expect(request?.headers).to.include({
      accept: 'application/json',
      authorization: `Bearer ${UPSTREAM_KEY}`,
    });
    const type = request?.headers['content-type'] ?? '';
    expect(type).to.match(/^multipart\/form-data; ?boundary=/u);
    const bytes = new Uint8Array(request?.bytes ?? []);
    const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
    expect(Object.fromEntries(form)).to.deep.equal({
      prompt: 'a cat',
      aspect_ratio: '16:9',
      seed: '7',
    });
    expect(JSON.parse(text)).to.have.nested.property('data[0].b64_json', PNG);
  });

  it('asks once for each image', async () => {
    const { text } = await draw({ n: 3 });
    expect((JSON.parse(text) as { data: object[] }).data).to.have.length(3);
    expect(house.upstream.requests).to.have.length(3);
  });

  it('delivers no blurred image of CONTENT_FILTERED: it is a refusal inside a 200 (quirk 15)', async () => {
    house.script = () => made({ finish_reason: 'CONTENT_FILTERED' });
    const error = refusal(await draw());
    expect(error).to.include({ status: 400, code: 'content_policy_violation' });
  });

  for (const [said, status, code] of [
    [refused(403, 'content_moderation', 'Flagged.'), 400, 'content_policy_violation'],
    [refused(403, 'forbidden', 'No.'), 502, 'upstream_error'],
    [refused(401, 'unauthorized', 'Bad key.'), 502, 'upstream_error'],
    [refused(402, 'payment_required', 'Pay.'), 502, 'upstream_error'],
    [refused(400, 'bad_request', 'prompt: too long', 'seed: no'), 400, 'invalid_request'],
    [refused(422, 'unprocessable', 'What?'), 400, 'invalid_request'],
    [refused(429, 'rate_limit_exceeded', 'Slowly.'), 502, 'upstream_error'],
    [{ json: { finish_reason: 'SUCCESS' } }, 502, 'upstream_error'],
  ] as [Say, number, string][]) {
    it(`answers ${status} ${code} for ${JSON.stringify(said)}`, async () => {
      house.script = () => said;
      const error = refusal(await draw());
      expect(error).to.include({ status, code });
    });
  }

  it("keeps the upstream's words about what the client can mend", async () => {
    house.script = () => refused(400, 'bad_request', 'prompt: too long', 'seed: no');
    expect(refusal(await draw()).message).to.equal('prompt: too long; seed: no');
  });
});
