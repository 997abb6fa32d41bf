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

const QUEUED = { status: 'IN_QUEUE', queue_position: 2 };
const RUNNING = { status: 'IN_PROGRESS', logs: [] };
const DONE = { status: 'COMPLETED', logs: [], metrics: { inference_time: 41.2 } };
const REFUSED = {
  detail: [
    { loc: ['body', 'prompt'], msg: 'The prompt is unsafe.', type: 'content_policy_violation' },
  ],
};

/** The queue: it tells addresses that leave out the sub-path of the model. */
function queue(states: Say[], result: Say): Script {
  let polls = 0;
  return ({ method, path }, url) => {
    const requests = `${url}/fal-ai/veo3.1/requests/r1`;
    const urls = {
      status_url: `${requests}/status`,
      response_url: requests,
      cancel_url: `${requests}/cancel`,
    };
    if (method === 'PUT') return { status: 202, json: { status: 'CANCELLATION_REQUESTED' } };
    if (method === 'POST') return { json: { ...QUEUED, request_id: 'r1', ...urls } };
    if (path.endsWith('.mp4')) return { bytes: MP4 };
    if (!path.endsWith('/status')) return result;
    polls += 1;
    return states[Math.min(polls, states.length) - 1] ?? {};
  };
}

function made(url: string): Say {
  return { json: { video: { url, content_type: 'video/mp4', file_size: null } } };
}

describe('the manifest of fal, its queue', () => {
  let house: MediaHouse;
  const begin = async (states: Say[], result: Say) => {
    house.script = queue(states, result);
    return house.begin();
  };
  const posts = () => house.upstream.requests.filter(({ method }) => method === 'POST');

  beforeEach(async () => {
    house = await startMedia({
      provider: 'uses: fal',
      model: 'fal-ai/veo3.1/fast',
      script: queue([{ json: DONE }], {}),
      capability: 'video',
    });
  });
  afterEach(() => house.close());

  it('says a request in words of the queue, seconds as "6s", with Key before the key (quirk 20)', async () => {
    await house.begin({ duration_seconds: 6, negative_prompt: 'dogs', generate_audio: false });
    const [{ path, headers, json } = { path: '', headers: {}, json: {} }] = posts();
    expect(path).to.equal('/fal-ai/veo3.1/fast');
    expect(headers.authorization).to.equal(`Key ${UPSTREAM_KEY}`);
    expect(json).to.deep.equal({
      prompt: 'a cat',
      aspect_ratio: '16:9',
      resolution: '720p',
      duration: '6s',
      generate_audio: false,
      negative_prompt: 'dogs',
      auto_fix: false,
    });
  });

  it('asks the model for images where there is one', async () => {
    await house.begin({ image: PNG });
    expect(posts()[0]?.path).to.equal('/fal-ai/veo3.1/fast/image-to-video');
    expect(posts()[0]?.json).to.include({ image_url: `data:image/png;base64,${PNG}` });
  });

  it('cancels what still waits in the queue by its own address', async () => {
    house.script = queue([{ json: QUEUED }], {});
    const { response_url } = await house.begin();
    expect((await house.cancel(response_url)).status).to.equal(202);
    const put = house.upstream.requests.find(({ method }) => method === 'PUT');
    expect(put?.path).to.equal('/fal-ai/veo3.1/requests/r1/cancel');
    expect(put?.headers.authorization).to.equal(`Key ${UPSTREAM_KEY}`);
  });

  it('cancels nothing at an address that is not its own', async () => {
    house.script = ({ method }, url) => {
      if (method === 'POST') {
        const task = `${url}/fal-ai/veo3.1/requests/r1`;
        const cancel_url = 'http://127.0.0.1:9/cancel';
        return { json: { status_url: `${task}/status`, response_url: task, cancel_url } };
      }
      return { json: QUEUED };
    };
    const { response_url } = await house.begin();
    const { status, text } = await house.cancel(response_url);
    expect(status).to.equal(400);
    expect(JSON.parse(text)).to.include({ status: 'ALREADY_COMPLETED' });
  });

  it('makes as many requests as there are videos to make', async () => {
    await house.begin({ sample_count: 3 });
    expect(posts()).to.have.length(3);
  });

  it('refuses what Veo does not make, before anything is asked', async () => {
    for (const parameters of [{ duration_seconds: 5 }, { resolution: '4k' }]) {
      const error = refusal(await house.submit({ prompt: 'a cat', parameters }));
      const [name = ''] = Object.keys(parameters);
      expect(error).to.include({ status: 400, param: `parameters.${name}` });
      expect(error.message).to.match(/must be (4, 6 or 8|720p or 1080p) here/u);
    }
    expect(posts()).to.deep.equal([]);
  });

  it('follows a task by the addresses it is given, and fetches the video without the key (quirks 25, 29)', async () => {
    const states = [{ status: 202, json: QUEUED }, { status: 202, json: RUNNING }, { json: DONE }];
    const task = await begin(states, made(`${house.upstream.url}/files/output.mp4`));
    const seen = [];
    for (let i = 0; i < 3; i += 1) seen.push((await house.later(task.status_url)).status);
    expect(seen).to.deep.equal(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
    const [video = ''] = videosIn(await house.later(task.response_url));
    const content = await fetch(video.startsWith('/') ? house.url + video : video, {
      headers: { authorization: `Bearer ${house.secret}` },
    });
    expect(Buffer.from(await content.arrayBuffer()).equals(MP4)).to.equal(true);
    const gets = house.upstream.requests.filter(({ method }) => method === 'GET');
    expect(gets.map(({ path }) => path).slice(-2)).to.deep.equal([
      '/fal-ai/veo3.1/requests/r1',
      '/files/output.mp4',
    ]);
    expect(gets.at(-2)?.headers.authorization).to.equal(`Key ${UPSTREAM_KEY}`);
    expect(gets.at(-1)?.headers).not.to.have.property('authorization');
  });

  it('knows by the result that a completed task has failed, whatever shape it says so in', async () => {
    for (const [body, error] of [
      [REFUSED, 'The prompt is unsafe.'],
      [{ detail: 'The runner gave up.' }, 'The runner gave up.'],
      [{ message: 'Nothing was made.' }, 'Nothing was made.'],
    ]) {
      const task = await begin([{ json: DONE }], { status: 422, json: body });
      expect(await house.later(task.status_url)).to.include({ status: 'FAILED', error });
    }
  });

  it('knows by the status that a completed task has failed', async () => {
    const task = await begin([{ json: { ...DONE, error: 'out of memory' } }], {});
    const told = await house.later(task.status_url);
    expect(told).to.include({ status: 'FAILED', error: 'out of memory' });
  });

  it('goes on where the queue cannot be asked, or says what it never said', async () => {
    const task = await begin(
      [{ status: 500, json: {} }, { json: { status: 'DREAMING' } }, { json: DONE }],
      made('https://files.example.com/a.mp4'),
    );
    const seen = [];
    for (let i = 0; i < 3; i += 1) seen.push((await house.later(task.status_url)).status);
    expect(seen).to.deep.equal(['IN_QUEUE', 'IN_QUEUE', 'COMPLETED']);
  });

  it('asks again for a result that it asked for too early', async () => {
    const early = { status: 400, json: { detail: 'Request is still in progress' } };
    const task = await begin([{ json: DONE }], early);
    expect(await house.later(task.status_url)).to.include({ status: 'IN_QUEUE' });
    const refused = { status: 400, json: { detail: 'Image too small' } };
    house.script = ({ path }) => (path.endsWith('/status') ? { json: DONE } : refused);
    const told = await house.later(task.status_url);
    expect(told).to.include({ status: 'FAILED', error: 'Image too small' });
  });

  it('asks about a task at the provider only', async () => {
    house.script = () => ({
      json: { status_url: 'http://169.254.169.254/a', response_url: 'http://169.254.169.254/b' },
    });
    expect(refusal(await house.submit())).to.include({ status: 502, code: 'upstream_error' });
  });

  it('tells errors of the submission apart', async () => {
    const locked = 'User is locked. Reason: Exhausted balance.';
    for (const [status, json, expected, words] of [
      [422, REFUSED, 'content_policy_violation', 'The prompt is unsafe.'],
      [403, { detail: locked }, 'upstream_error', 'out of credit'],
      [401, { detail: 'bad key' }, 'upstream_error', 'credentials'],
      [422, { detail: [{ msg: 'no seed', type: 'missing' }] }, 'invalid_request', 'no seed'],
    ] as const) {
      house.script = () => ({ status, json });
      const { code, message } = refusal(await house.submit());
      expect(code, message).to.equal(expected);
      expect(message).to.include(words);
    }
  });
});

describe('the manifest of fal, its images', () => {
  let house: MediaHouse;
  const drawn = (more: object = {}): Say => ({
    json: {
      images: [1, 2].map(() => ({ url: `data:image/png;base64,${PNG}`, width: 8, height: 8 })),
      seed: 1,
      ...more,
    },
  });
  const draw = (body: object) => house.draw({ response_format: 'b64_json', ...body });

  beforeEach(async () => {
    house = await startMedia({
      provider: 'uses: fal-image',
      model: 'fal-ai/flux/dev',
      script: () => drawn(),
      capability: 'image',
    });
  });
  afterEach(() => house.close());

  it('asks for all images at once, up to four', async () => {
    const { status, text } = await draw({ n: 2, size: '512x256', seed: 7 });
    expect(status, text).to.equal(200);
    const { data } = JSON.parse(text) as { data: { b64_json: string }[] };
    expect(data.map(({ b64_json }) => b64_json)).to.deep.equal([PNG, PNG]);
    const [{ path, headers, json } = { path: '', headers: {}, json: {} }] = house.upstream.requests;
    expect([path, headers.authorization]).to.deep.equal([
      '/fal-ai/flux/dev',
      `Key ${UPSTREAM_KEY}`,
    ]);
    const image_size = { width: 512, height: 256 };
    expect(json).to.deep.equal({ seed: 7, prompt: 'a cat', num_images: 2, image_size });
  });

  it('leaves out the black images of what was unsafe', async () => {
    house.script = () => drawn({ has_nsfw_concepts: [true, false] });
    const { text } = await draw({ n: 2 });
    expect((JSON.parse(text) as { data: object[] }).data).to.have.length(1);
  });

  it('refuses the prompt where all were', async () => {
    house.script = () => drawn({ has_nsfw_concepts: [true, true] });
    expect(refusal(await draw({ n: 2 }))).to.include({ code: 'content_policy_violation' });
  });

  it('finds images that LCM models call unsafe by another name (nsfw_content_detected)', async () => {
    house.script = () => drawn({ nsfw_content_detected: [false, true] });
    const { text } = await draw({ n: 2 });
    expect((JSON.parse(text) as { data: object[] }).data).to.have.length(1);
    house.script = () => drawn({ nsfw_content_detected: [true, true] });
    expect(refusal(await draw({ n: 2 }))).to.include({ code: 'content_policy_violation' });
  });

  it('takes a single image that is no list', async () => {
    const image = { url: `data:image/png;base64,${PNG}`, width: 8, height: 8 };
    house.script = () => drawn({ images: undefined, image });
    const { status, text } = await draw({ n: 1 });
    expect(status, text).to.equal(200);
    expect((JSON.parse(text) as { data: object[] }).data).to.have.length(1);
  });
});
