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

/** Tells the states of one task, the last one again and again. */
function tasks(states: (url: string) => Say[]): Script {
  let polls = 0;
  return ({ method, path }, url) => {
    if (method === 'POST') return { json: { id: 't1', estimatedCost: { credits: 40 } } };
    if (path.endsWith('.mp4')) return { bytes: MP4 };
    polls += 1;
    const all = states(url);
    return all[Math.min(polls, all.length) - 1] ?? {};
  };
}

const state = (status: string, more: object = {}): Say => ({ json: { id: 't1', status, ...more } });

describe('the manifest of Runway', () => {
  let house: MediaHouse;
  const start = async (model: string): Promise<MediaHouse> =>
    startMedia({
      provider: 'uses: runway',
      model,
      script: tasks(() => [state('PENDING')]),
      capability: 'video',
    });
  beforeEach(async () => {
    house = await start('veo3.1');
  });
  afterEach(() => house.close());
  const posts = () => house.upstream.requests.filter(({ method }) => method === 'POST');

  it('cancels a task that waits by deleting it', async () => {
    house.script = (received, url) =>
      received.method === 'DELETE'
        ? { status: 204 }
        : tasks(() => [state('PENDING')])(received, url);
    const { response_url } = await house.begin();
    expect((await house.cancel(response_url)).status).to.equal(202);
    const last = house.upstream.requests.at(-1);
    expect([last?.method, last?.path]).to.deep.equal(['DELETE', '/tasks/t1']);
  });

  it('says a request in its words, with the version of the wire', async () => {
    await house.begin({
      duration_seconds: 6,
      resolution: '1080p',
      aspect_ratio: '9:16',
      negative_prompt: 'dogs',
      generate_audio: false,
    });
    const [{ path, headers, json } = { path: '', headers: {}, json: {} }] = posts();
    expect(path).to.equal('/text_to_video');
    expect(headers).to.include({
      authorization: `Bearer ${UPSTREAM_KEY}`,
      'x-runway-version': '2024-11-06',
    });
    expect(json).to.deep.equal({
      model: 'veo3.1',
      promptText: 'a cat',
      ratio: '1080:1920',
      duration: 6,
      audio: false,
      negativePrompt: 'dogs',
    });
  });

  it('begins with an image at another path, and does not speak of sound to a silent model', async () => {
    const silent = await start('gen4.5');
    await silent.begin({ image: PNG });
    const [{ path, json } = { path: '', json: {} }] = silent.upstream.requests;
    await silent.close();
    expect(path).to.equal('/image_to_video');
    expect(json).to.include({ promptImage: `data:image/png;base64,${PNG}`, ratio: '1280:720' });
    expect(json).not.to.have.property('audio');
  });

  it('refuses 4k before anything is asked', async () => {
    const error = refusal(await house.submit({ prompt: 'a', parameters: { resolution: '4k' } }));
    expect(error).to.include({ status: 400, param: 'parameters.resolution' });
    expect(posts()).to.deep.equal([]);
  });

  it('follows a task through a throttled queue, and fetches the video without the key', async () => {
    house.script = tasks((url) => [
      state('THROTTLED'),
      state('RUNNING', { progress: 0.5 }),
      state('SUCCEEDED', { output: [`${url}/files/out.mp4`] }),
    ]);
    const task = await house.begin();
    const seen = [];
    for (let i = 0; i < 3; i += 1) seen.push((await house.later(task.status_url)).status);
    expect(seen).to.deep.equal(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
    expect(house.upstream.requests.at(-1)?.path).to.equal('/tasks/t1');
    const [video = ''] = videosIn(await house.later(task.response_url));
    const headers = { authorization: `Bearer ${house.secret}` };
    const content = await fetch(new URL(video, house.url), { headers });
    expect(Buffer.from(await content.arrayBuffer()).equals(MP4)).to.equal(true);
    expect(house.upstream.requests.at(-1)?.headers).not.to.have.property('authorization');
  });

  for (const [said, error] of [
    [
      state('FAILED', { failure: 'The image is unsafe.', failureCode: 'SAFETY.INPUT' }),
      'The image is unsafe.',
    ],
    [state('CANCELLED'), 'The video was cancelled.'],
    [state('FAILED'), 'The upstream gave no reason.'],
  ] as const) {
    it(`tells of a failed task: ${error}`, async () => {
      house.script = tasks(() => [said]);
      const task = await house.begin();
      await house.later(task.status_url);
      house.wait();
      const answer = await house.get(task.response_url);
      expect(answer.text).to.include(error);
    });
  }

  it('knows an account that is out of credits, which the client cannot mend', async () => {
    const json = { error: 'You do not have enough credits to run this task.' };
    house.script = () => ({ status: 400, json });
    const error = refusal(await house.submit());
    expect(error).to.include({ status: 502, code: 'upstream_error' });
    expect(error.message).to.include('out of credit');
  });
});
