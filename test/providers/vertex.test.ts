import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { image } from '../../providers/vertex.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { startTokenServer, type TokenServer } from '../helpers/token-server.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';
import {
  MP4,
  startVertexVeo,
  VERTEX_PATH,
  type Film,
  type VeoServer,
} from '../helpers/veo-server.js';
import { fetchVideo, makeVideo } from '../helpers/video-client.js';
import { PLAIN_CALL } from '../modalities/image/helpers/plain-call.js';

const BUCKET = 'gs://bucket-1/veo/';
const BASE64 = MP4.toString('base64');

/** A finished operation. */
function done(response: object): Film {
  return { done: true, response: { '@type': 'x.GenerateVideoResponse', ...response } };
}

const stored = (name: string) => ({ gcsUri: BUCKET + name, mimeType: 'video/mp4' });
const inline = { bytesBase64Encoded: BASE64, mimeType: 'video/mp4' };

describe('videos of Vertex AI', () => {
  let veo: VeoServer;
  let tokens: TokenServer;
  let gateway: TestGateway;
  /** Tokens that the service takes; all that were given out where undefined. */
  let good: string[] | undefined;

  beforeEach(async () => {
    good = undefined;
    veo = await startVertexVeo();
    tokens = await startTokenServer();
    veo.isKnown = ({ headers }) => {
      const token = String(headers.authorization).replace(/^Bearer /u, '');
      return (good ?? tokens.tokens).includes(token);
    };
    const manifest = await readFile(
      new URL('../../providers/vertex.yaml', import.meta.url),
      'utf8',
    );
    const { client_email, private_key, token_url } = tokens.account;
    const video = 'owner: g, capabilities: [video], price: { per_video_second: 0.1 }';
    const model = 'provider: cloud, model: veo-3.1-generate-001';
    gateway = await startGateway(
      `limits: { answer: 1mb }
owners: { g: { name: G } }
providers:
  cloud:
    uses: ./cloud.yaml
    service_account: "\${KEY}"
    token_url: "${token_url}"
    base_url: "${veo.url}${VERTEX_PATH}"
    poll_interval: 10ms
models:
  veo: { ${video}, upstreams: [{ ${model} }] }
  kept: { ${video}, upstreams: [{ ${model}, set: { storageUri: "${BUCKET}" } }] }
`,
      {
        files: { 'cloud.yaml': `${manifest}wire: { storage_url: "${veo.url}" }\n` },
        env: { KEY: JSON.stringify({ client_email, private_key }) },
      },
    );
  });
  afterEach(async () => {
    await gateway.close();
    await veo.close();
    await tokens.close();
  });

  it('are polled by POST until there is a done, and fetched with the token (quirk 23)', async () => {
    veo.films = [{}, { done: false }, done({ videos: [stored('1/sample_0.mp4')] })];
    const result = await makeVideo(gateway, 'kept');
    expect(veo.taken[0]?.parameters).to.include({ storageUri: BUCKET, generateAudio: true });
    const polls = veo.requests.filter(({ path }) => path.endsWith(':fetchPredictOperation'));
    expect(polls.map(({ method }) => method)).to.deep.equal(['POST', 'POST', 'POST']);
    expect((await fetchVideo(gateway, result)).bytes.equals(MP4)).to.equal(true);
    const { path, headers } = veo.requests.at(-1) ?? { path: '', headers: {} };
    expect(path).to.equal('/storage/v1/b/bucket-1/o/veo%2F1%2Fsample_0.mp4?alt=media');
    expect(headers.authorization).to.equal('Bearer token-1');
    expect(tokens.requests).to.have.length(1);
  });

  it('are taken from the answer to another poll, and their bytes are not kept', async () => {
    veo.films = [{}, done({ videos: [inline, inline] })];
    const result = await makeVideo(gateway, 'veo', { sample_count: 2, generate_audio: false });
    expect(veo.taken[0]?.parameters).to.include({ generateAudio: false, sampleCount: 2 });
    expect(result.data).to.have.length(2);
    const place = await gateway.gateway.store.tasks.place(result.request_id, 1);
    expect(JSON.stringify(place).length).to.be.below(500);
    const whole = await fetchVideo(gateway, result, 1);
    expect([whole.status, whole.bytes.equals(MP4)]).to.deep.equal([200, true]);
    const part = await fetchVideo(gateway, result, 0, { range: 'bytes=-5' });
    expect([part.status, part.bytes.equals(MP4.subarray(-5))]).to.deep.equal([206, true]);
  });

  it('do not come where the operation has forgotten them', async () => {
    veo.films = [done({ videos: [inline] })];
    const result = await makeVideo(gateway, 'veo');
    veo.films = [done({})];
    expect((await fetchVideo(gateway, result)).status).to.equal(502);
  });

  it('are FAILED, with what to do about it, where they are too large for an answer', async () => {
    veo.films = [done({ videos: [{ ...inline, bytesBase64Encoded: 'A'.repeat(2 * 1024 ** 2) }] })];
    const result = await makeVideo(gateway, 'veo');
    expect(result.status).to.equal('FAILED');
    expect(result.error).to.include('storageUri');
  });

  it('are as many as were not filtered (quirk 24)', async () => {
    const raiMediaFilteredReasons = ['Support codes: 58061214'];
    const videos = [stored('a.mp4'), stored('b.mp4')];
    veo.films = [done({ videos, raiMediaFilteredCount: 1, raiMediaFilteredReasons })];
    const result = await makeVideo(gateway, 'kept', { sample_count: 3 });
    expect([result.status, result.data?.length]).to.deep.equal(['COMPLETED', 2]);
    expect(veo.taken).to.have.length(1);
  });

  it('are fetched with a new token where the old one is refused', async () => {
    veo.films = [done({ videos: [stored('a.mp4')] })];
    const result = await makeVideo(gateway, 'kept');
    good = ['token-2'];
    expect((await fetchVideo(gateway, result)).bytes.equals(MP4)).to.equal(true);
    expect(tokens.requests).to.have.length(2);
  });

  for (const [what, film, error] of [
    [
      'all were filtered',
      done({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['Support codes: 1.'] }),
      'The upstream refused the prompt. Support codes: 1.',
    ],
    [
      'all were filtered in an empty list',
      done({ videos: [], raiMediaFilteredCount: 1 }),
      'The upstream refused the prompt. It held the video back by its rules on content.',
    ],
    ['the operation failed', { done: true, error: { code: 3, message: 'Too red.' } }, 'Too red.'],
  ] as [string, Film, string][]) {
    it(`are FAILED where ${what}, though done is true (quirk 24)`, async () => {
      veo.films = [film];
      const result = await makeVideo(gateway, 'veo');
      expect([result.status, result.error]).to.deep.equal(['FAILED', error]);
    });
  }
});

describe('images of Vertex AI', () => {
  it("are asked for at Google's publisher path", () => {
    const upstream = upstreamAt(providerAt('https://x.example.com'), {
      model: 'gemini-3-pro-image',
    });
    expect(image.encode(PLAIN_CALL, upstream).path).to.equal(
      '/publishers/google/models/gemini-3-pro-image:generateContent',
    );
    const set = { service_tier: 'flex' };
    expect(image.encode(PLAIN_CALL, { ...upstream, set })).to.deep.include({
      headers: { 'x-vertex-ai-llm-shared-request-type': 'flex' },
    });
  });
});
