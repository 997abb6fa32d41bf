import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { image } from '../../providers/gemini.js';
import type { ImageCall } from '../../src/modalities/image/codec.js';
import { ask } from '../helpers/ask.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { providerAt, startUpstream, upstreamAt, type FakeUpstream } from '../helpers/upstream.js';
import { MP4, startGeminiVeo, type Film, type VeoServer } from '../helpers/veo-server.js';
import { fetchVideo, makeVideo, submitVideo } from '../helpers/video-client.js';
import { UpstreamError } from '../../src/core/upstream-error.js';

const KEY = 'AIza-test-0123456789';
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A finished operation. */
function done(made: object): Film {
  return { done: true, response: { '@type': 'x', generateVideoResponse: made } };
}

/** The shipped manifest, whose operator lists the host of another server as one of its files. */
async function manifestWith({ url }: FakeUpstream): Promise<string> {
  const shipped = await readFile(new URL('../../providers/gemini.yaml', import.meta.url), 'utf8');
  return `${shipped}wire: { image_hosts: ["${new URL(url).host}"] }\n`;
}

describe('videos of the Gemini API', () => {
  let veo: VeoServer;
  let elsewhere: FakeUpstream;
  let gateway: TestGateway;
  beforeEach(async () => {
    veo = await startGeminiVeo();
    veo.isKnown = ({ headers }) => headers['x-goog-api-key'] === KEY;
    elsewhere = await startUpstream({ headers: { 'content-type': 'video/mp4' }, body: MP4 });
    const upstream = '{ provider: gemini, model: veo-3.1-generate-preview }';
    gateway = await startGateway(
      `owners: { g: { name: G } }
providers:
  gemini: { uses: ./films.yaml, api_key: ${KEY}, base_url: "${veo.url}/v1beta", poll_interval: 10ms }
models:
  veo: { owner: g, capabilities: [video], upstreams: [${upstream}], price: { per_video_second: 0.1 } }
`,
      { files: { 'films.yaml': await manifestWith(elsewhere) } },
    );
  });
  afterEach(async () => {
    await gateway.close();
    await elsewhere.close();
    await veo.close();
  });

  const sample = (id = 'abc') => ({
    video: { uri: `${veo.url}/v1beta/files/${id}:download?alt=media` },
  });

  it('come by way of a redirect to another address, which never sees the key', async () => {
    veo.films = [{}, { done: false }, done({ generatedSamples: [sample()] })];
    veo.reel = { status: 302, headers: { location: `${elsewhere.url}/reel` } };
    const result = await makeVideo(gateway, 'veo', { negative_prompt: 'rain' });
    expect(result.status).to.equal('COMPLETED');
    const { status, bytes } = await fetchVideo(gateway, result);
    expect([status, bytes.equals(MP4)]).to.deep.equal([200, true]);
    expect(veo.requests.at(-1)?.headers['x-goog-api-key']).to.equal(KEY);
    expect(elsewhere.requests.map(({ path }) => path)).to.deep.equal(['/reel']);
    expect(JSON.stringify(elsewhere.requests[0])).to.not.include(KEY);
  });

  it('never take the key to an address that is not their own', async () => {
    const video = { uri: `${elsewhere.url}/v1beta/files/1:download` };
    veo.films = [done({ generatedSamples: [{ video }] })];
    const { bytes } = await fetchVideo(gateway, await makeVideo(gateway, 'veo'));
    expect(bytes.equals(MP4)).to.equal(true);
    expect(JSON.stringify(elsewhere.requests)).to.not.include(KEY);
  });

  it('are made from an image', async () => {
    veo.films = [done({ generatedSamples: [sample()] })];
    await makeVideo(gateway, 'veo', { image: PNG });
    expect(veo.taken[0]?.instances).to.deep.equal([
      { prompt: 'a kite', image: { bytesBase64Encoded: PNG, mimeType: 'image/png' } },
    ]);
  });

  it('are asked for one by one', async () => {
    veo.films = [done({ generatedSamples: [sample()] })];
    const result = await makeVideo(gateway, 'veo', { sample_count: 3 });
    expect([veo.taken.length, result.data?.length]).to.deep.equal([3, 3]);
  });

  it('are refused before anything is asked where the service has no such thing', async () => {
    for (const parameters of [{ duration_seconds: 5 }, { generate_audio: false }]) {
      const { status, text } = await submitVideo(gateway, 'veo', parameters);
      expect(status).to.equal(400);
      expect(text).to.include(`parameters.${Object.keys(parameters)[0]}`);
    }
    expect(veo.requests).to.have.length(0);
  });

  it('may come within the answer to a poll', async () => {
    const video = { encodedVideo: MP4.toString('base64'), encoding: 'video/mp4' };
    veo.films = [done({ generatedSamples: [{ video }] })];
    const result = await makeVideo(gateway, 'veo');
    expect((await fetchVideo(gateway, result)).bytes.equals(MP4)).to.equal(true);
    const part = await fetchVideo(gateway, result, 0, { range: 'bytes=10-19' });
    expect([part.status, part.bytes.equals(MP4.subarray(10, 20))]).to.deep.equal([206, true]);
  });

  it('are good though their sound was removed', async () => {
    const raiMediaFilteredReasons = ['The sound was removed.'];
    veo.films = [done({ generatedSamples: [sample()], raiMediaFilteredReasons })];
    expect((await makeVideo(gateway, 'veo')).status).to.equal('COMPLETED');
  });

  for (const [what, film, error] of [
    [
      'was filtered',
      done({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['Support codes: 1.'] }),
      'The upstream refused the prompt. Support codes: 1.',
    ],
    [
      'was filtered without a word',
      done({ raiMediaFilteredCount: 1 }),
      'The upstream refused the prompt. It held the video back by its rules on content.',
    ],
    ['was never made', done({}), 'The upstream finished without a video.'],
    ['failed', { done: true, error: { code: 13, message: 'Internal.' } }, 'Internal.'],
    ['failed in silence', { done: true, error: { code: 13 } }, 'The upstream gave no reason.'],
    [
      'failed for want of rights',
      { done: true, error: { code: 7, message: 'Project 123 has no rights.' } },
      "The upstream refused the gateway's credentials.",
    ],
  ] as [string, Film, string][]) {
    it(`are FAILED where one ${what}`, async () => {
      veo.films = [film];
      const result = await makeVideo(gateway, 'veo');
      expect([result.status, result.error]).to.deep.equal(['FAILED', error]);
    });
  }
});

const CALL: ImageCall = {
  prompt: 'a kite',
  n: 1,
  size: undefined,
  quality: 'hd',
  style: 'vivid',
  response_format: 'url',
  fields: {},
};
const THREE = upstreamAt(providerAt('https://upstream.example.com'), {
  model: 'gemini-3-pro-image',
});

describe("images of Gemini's image models", () => {
  function faultOf(body: unknown): [string, string] {
    try {
      image.decode(body, CALL, THREE);
    } catch (error) {
      if (error instanceof UpstreamError) return [error.fault, error.message];
      throw error;
    }
    throw new Error('There was no fault.');
  }

  it('are asked for as content, without what the service does not know', () => {
    expect(image.encode(CALL, THREE)).to.deep.equal({
      path: '/models/gemini-3-pro-image:generateContent',
      body: {
        contents: [{ role: 'user', parts: [{ text: 'a kite' }] }],
        generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
      },
    });
  });

  it('are asked for in the service tier that the operator sets', () => {
    const inTier = (service_tier: string) =>
      image.encode(CALL, { ...THREE, set: { service_tier } });
    const { body } = inTier('flex');
    expect(body).to.include({ serviceTier: 'flex' }).and.not.have.property('service_tier');
    expect(inTier('default').body).to.have.keys('contents', 'generationConfig');
  });

  it('leave out what their passthrough takes for chat, and name it', () => {
    const fields = { seed: 7, reasoning_effort: 'low', top_k: 4 };
    const { body, ignored } = image.encode({ ...CALL, fields }, THREE);
    const generationConfig = { seed: 7, responseModalities: ['TEXT', 'IMAGE'] };
    expect(body).to.deep.include({ generationConfig });
    expect(ignored).to.deep.equal(['reasoning_effort', 'top_k']);
  });

  for (const [width, height, aspectRatio, imageSize] of [
    [1024, 1024, '1:1'],
    [256, 256, '1:1'],
    [1792, 1024, '16:9', '2K'],
    [1024, 1792, '9:16', '2K'],
    [1024, 768, '4:3'],
    [768, 1024, '3:4'],
    [1536, 1024, '3:2', '2K'],
    [1280, 720, '16:9'],
    [2560, 1080, '21:9', '2K'],
    [8192, 256, '21:9', '2K'],
    [4096, 4096, '1:1', '4K'],
  ] as [number, number, string, string?][]) {
    it(`are ${aspectRatio} for ${width}x${height}`, () => {
      const call = { ...CALL, size: { width, height } };
      const configOf = (model: string) =>
        image.encode(call, { ...THREE, model }).body.generationConfig;
      expect(configOf('gemini-3-pro-image')).to.deep.include({
        imageConfig: { aspectRatio, ...(imageSize && { imageSize }) },
      });
      expect(configOf('gemini-2.5-flash-image')).to.deep.include({ imageConfig: { aspectRatio } });
    });
  }

  it('are taken from the answer without its drafts, and its tokens are counted by kind', () => {
    const part = (data: string, more = {}) => ({
      inlineData: { mimeType: 'image/png', data },
      ...more,
    });
    const parts = [{ text: 'Here.' }, part('RFJB', { thought: true }), part('QUJD')];
    const usageMetadata = {
      promptTokenCount: 267,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 9 },
        { modality: 'IMAGE', tokenCount: 258 },
      ],
      candidatesTokenCount: 1_295,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
      thoughtsTokenCount: 10,
      totalTokenCount: 1_572,
    };
    const body = { candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata };
    expect(image.decode(body, CALL, THREE)).to.deep.equal({
      images: [{ b64_json: 'QUJD' }],
      usage: {
        prompt_tokens: 267,
        completion_tokens: 1_305,
        prompt_tokens_details: { image_tokens: 258 },
        completion_tokens_details: { reasoning_tokens: 10, image_tokens: 1_290 },
      },
    });
  });

  for (const [body, fault, said] of [
    [{ promptFeedback: { blockReason: 'SAFETY' } }, 'policy', 'SAFETY'],
    [
      { promptFeedback: { blockReason: 'MODEL_ARMOR', blockReasonMessage: 'Blocked.' } },
      'policy',
      'Blocked.',
    ],
    [{ candidates: [{ finishReason: 'IMAGE_SAFETY', content: {} }] }, 'policy', 'IMAGE_SAFETY'],
    [{ candidates: [{ finishReason: 'IMAGE_PROHIBITED_CONTENT' }] }, 'policy', 'PROHIBITED'],
    [{ candidates: [{ finishReason: 'NO_IMAGE' }] }, 'broken', 'no image'],
    [
      { candidates: [{ finishReason: 'STOP', content: { parts: [{ text: 'A kite is…' }] } }] },
      'broken',
      'A kite is…',
    ],
    [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }, 'rate_limited', ''],
    [[{ error: { code: 503, status: 'UNAVAILABLE' } }], 'overloaded', ''],
    ['text', 'broken', ''],
    [{}, 'broken', ''],
  ] as [unknown, string, string][]) {
    it(`are missed as ${fault} in ${JSON.stringify(body)}`, () => {
      const [found, message] = faultOf(body);
      expect(found).to.equal(fault);
      expect(message).to.include(said);
    });
  }

  it('are made by as many calls as there are images', async () => {
    const parts = [{ inlineData: { mimeType: 'image/png', data: PNG } }];
    const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 1_290 };
    const body = JSON.stringify({ candidates: [{ content: { parts } }], usageMetadata });
    const upstream = await startUpstream({ headers: { 'content-type': 'application/json' }, body });
    const gateway = await startGateway(`owners: { g: { name: G } }
providers: { gemini: { api_key: ${KEY}, base_url: "${upstream.url}/v1beta" } }
models:
  painter:
    owner: g
    capabilities: [image]
    upstreams: [{ provider: gemini, model: gemini-3-pro-image }]
    price: { per_image: 0.04 }
`);
    const { status, text } = await ask(gateway, '/v1/images/generations', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'painter', prompt: 'a kite', n: 2, size: '1024x1792' }),
    });
    await gateway.close();
    await upstream.close();
    expect(status, text).to.equal(200);
    const { data, usage } = JSON.parse(text) as { data: object[]; usage: object };
    expect(data).to.have.length(2);
    expect(usage).to.deep.include({ prompt_tokens: 8, completion_tokens: 2_580 });
    expect(
      upstream.requests.map(({ path, headers }) => [path, headers['x-goog-api-key']]),
    ).to.deep.equal(
      Array.from({ length: 2 }, () => ['/v1beta/models/gemini-3-pro-image:generateContent', KEY]),
    );
  });
});
