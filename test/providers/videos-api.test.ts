import { expect } from 'chai';
import {
  MP4,
  PNG,
  refusal,
  startMedia,
  UPSTREAM_KEY,
  videosIn,
  type MediaHouse,
  type Say,
  type Script,
} from '../mapping/helpers/manifest-gateway.js';

function videos(states: Say[]): Script {
  let polls = 0;
  return ({ method, path }) => {
    if (method === 'POST') return { json: { id: 'video_1', object: 'video', status: 'queued' } };
    if (path.endsWith('/content')) return { bytes: MP4 };
    polls += 1;
    return states[Math.min(polls, states.length) - 1] ?? {};
  };
}

const state = (status: string, more: object = {}): Say => ({
  json: { id: 'video_1', object: 'video', status, error: null, ...more },
});

describe('the manifest of the videos API', () => {
  let house: MediaHouse;
  beforeEach(async () => {
    house = await startMedia({
      provider: 'uses: videos-api',
      model: 'sora-2',
      script: videos([state('queued'), state('in_progress'), state('completed')]),
      capability: 'video',
    });
  });
  afterEach(() => house.close());
  const posts = () => house.upstream.requests.filter(({ method }) => method === 'POST');

  it('says seconds as text and the resolution as a size', async () => {
    await house.begin({ duration_seconds: 8, aspect_ratio: '9:16' });
    expect(posts()[0]?.path).to.equal('/videos');
    expect(posts()[0]?.json).to.deep.equal({
      model: 'sora-2',
      prompt: 'a cat',
      seconds: '8',
      size: '720x1280',
    });
  });

  it('sends an image as a reference, and a negative prompt rather than leave it out', async () => {
    await house.begin({ duration_seconds: 4, image: PNG, negative_prompt: 'dogs' });
    expect(posts()[0]?.json).to.deep.include({
      input_reference: { image_url: `data:image/png;base64,${PNG}` },
      negative_prompt: 'dogs',
    });
  });

  for (const parameters of [
    { duration_seconds: 6 },
    { duration_seconds: 8, resolution: '1080p' },
    { duration_seconds: 8, generate_audio: false },
  ]) {
    it(`refuses ${JSON.stringify(parameters)}, which it cannot say`, async () => {
      const error = refusal(await house.submit({ prompt: 'a cat', parameters }));
      expect(error.status).to.equal(400);
      expect(error.param).to.match(/^parameters\.(duration_seconds|resolution|generate_audio)$/u);
      expect(posts()).to.deep.equal([]);
    });
  }

  it('has a job for each video, and fetches the bytes with the key at the content of its job', async () => {
    const task = await house.begin({ duration_seconds: 8 });
    const seen = [];
    for (let i = 0; i < 3; i += 1) seen.push((await house.later(task.status_url)).status);
    expect(seen).to.deep.equal(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
    const [video = ''] = videosIn(await house.later(task.response_url));
    const headers = { authorization: `Bearer ${house.secret}` };
    const content = await fetch(new URL(video, house.url), { headers });
    expect(Buffer.from(await content.arrayBuffer()).equals(MP4)).to.equal(true);
    const last = house.upstream.requests.at(-1);
    expect(last?.path).to.equal('/videos/video_1/content');
    expect(last?.headers.authorization).to.equal(`Bearer ${UPSTREAM_KEY}`);
  });

  it('tells why a job failed', async () => {
    const error = { code: 'moderation_blocked', message: 'The prompt is unsafe.' };
    house.script = videos([state('failed', { error })]);
    const task = await house.begin({ duration_seconds: 8 });
    await house.later(task.status_url);
    house.wait();
    expect((await house.get(task.response_url)).text).to.include('The prompt is unsafe.');
  });

  it('passes on that a prompt is refused at once', async () => {
    const error = { code: 'moderation_blocked', message: 'Unsafe.', type: 'user_error' };
    house.script = () => ({ status: 400, json: { error } });
    const refused = refusal(
      await house.submit({ prompt: 'a', parameters: { duration_seconds: 8 } }),
    );
    expect(refused).to.include({ status: 400, code: 'content_policy_violation' });
  });
});
