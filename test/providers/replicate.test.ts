import { expect } from 'chai';
import {
  PNG,
  refusal,
  startMedia,
  UPSTREAM_KEY,
  type MediaHouse,
  type Say,
} from '../mapping/helpers/manifest-gateway.js';

const FILE = 'https://replicate.delivery/a/out.mp4';
const DATA = `data:image/png;base64,${PNG}`;

function prediction(status: string, more: object = {}): Say {
  return { json: { id: 'p1a2', status, logs: null, output: null, error: null, ...more } };
}

/** Output of any shape, and how many files are in it. */
const OUTPUTS: readonly [string, (file: string) => unknown, number][] = [
  ['a string', (file) => file, 1],
  ['a list', (file) => [file, 'seed 7', null], 1],
  ['a block with url', (file) => ({ url: file, seed: 7 }), 1],
  ['a block with a list', (file) => ({ images: [{ url: file }], videos: [file] }), 1],
  ['a block with a file', (file) => ({ image: file, video: file }), 1],
  ['text', () => 'I made nothing.', 0],
  ['null', () => null, 0],
  ['a number', () => 7, 0],
];

describe('the manifest of Replicate, its images', () => {
  let house: MediaHouse;
  const draw = (body: object = {}) => house.draw({ response_format: 'b64_json', ...body });

  beforeEach(async () => {
    house = await startMedia({
      provider: 'uses: replicate',
      model: 'black-forest-labs/flux-schnell',
      upstream: ', set: { input: { output_format: png } }',
      script: () => ({ status: 201, ...prediction('succeeded', { output: [DATA] }) }),
      capability: 'image',
    });
  });
  afterEach(() => house.close());

  it('waits for the image, and says the size as the nearest ratio', async () => {
    const { status, text } = await draw({ size: '1920x1088', seed: 7 });
    expect(status, text).to.equal(200);
    const [{ path, headers, json } = { path: '', headers: {}, json: {} }] = house.upstream.requests;
    expect(path).to.equal('/models/black-forest-labs/flux-schnell/predictions');
    expect(headers).to.include({ prefer: 'wait=60', authorization: `Bearer ${UPSTREAM_KEY}` });
    expect(json).to.deep.equal({
      input: { seed: 7, prompt: 'a cat', aspect_ratio: '16:9', output_format: 'png' },
    });
  });

  it('asks once for each image', async () => {
    const { text } = await draw({ n: 3 });
    expect((JSON.parse(text) as { data: object[] }).data).to.have.length(3);
    expect(house.upstream.requests).to.have.length(3);
  });

  for (const [shape, output, files] of OUTPUTS) {
    it(`finds the images in ${shape}`, async () => {
      // In wait mode the status may lag behind the output.
      house.script = () => prediction('processing', { output: output(DATA) });
      const answer = await draw();
      if (files > 0) expect(answer.status, answer.text).to.equal(200);
      else expect(refusal(answer)).to.include({ status: 502, code: 'upstream_error' });
    });
  }

  for (const [what, say, code] of [
    [
      'a failure by its text',
      prediction('failed', { error: 'CUDA out of memory' }),
      'upstream_error',
    ],
    [
      'a refusal by its text',
      prediction('failed', { error: 'The output was flagged as sensitive. (E005)' }),
      'content_policy_violation',
    ],
    ['a cancelled image', prediction('canceled'), 'upstream_error'],
    [
      'input that is invalid',
      { status: 422, json: { title: 'Invalid', detail: '- input.seed: odd', status: 422 } },
      'invalid_request',
    ],
    [
      'that its account is empty',
      { status: 402, json: { title: 'Insufficient credit', detail: 'You …', status: 402 } },
      'upstream_error',
    ],
  ] as const) {
    it(`tells ${what}`, async () => {
      const headers = { 'content-type': 'application/problem+json' };
      house.script = () => ({ ...say, headers });
      expect(refusal(await draw()).code).to.equal(code);
    });
  }
});

describe('the manifest of Replicate, its videos', () => {
  let house: MediaHouse;
  const states: Say[] = [];

  beforeEach(async () => {
    states.length = 0;
    house = await startMedia({
      provider: 'uses: replicate',
      model: 'google/veo-3.1',
      script: ({ method }) => {
        if (method === 'POST') return { status: 201, ...prediction('starting') };
        return (states.length > 1 ? states.shift() : states[0]) ?? prediction('starting');
      },
      capability: 'video',
    });
  });
  afterEach(() => house.close());

  it('says a request with numbers for seconds, and an image as a data URL (quirk 20)', async () => {
    await house.begin({ image: PNG, resolution: '1080p' });
    const [{ path, json } = { path: '', json: {} }] = house.upstream.requests;
    expect(path).to.equal('/models/google/veo-3.1/predictions');
    expect(json).to.deep.equal({
      input: {
        prompt: 'a cat',
        aspect_ratio: '16:9',
        duration: 8,
        resolution: '1080p',
        generate_audio: true,
        image: DATA,
      },
    });
  });

  it('follows a prediction to its end by its id, and by no question more', async () => {
    states.push(
      prediction('starting'),
      prediction('processing'),
      prediction('dreaming'),
      prediction('succeeded', { output: FILE }),
    );
    const task = await house.begin();
    const seen = [];
    for (let i = 0; i < 4; i += 1) seen.push((await house.later(task.status_url)).status);
    expect(seen).to.deep.equal(['IN_QUEUE', 'IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED']);
    const asked = house.upstream.requests.slice(1).map(({ path }) => path);
    expect(asked).to.deep.equal(Array(4).fill('/predictions/p1a2'));
  });

  it('cancels a prediction that has not begun', async () => {
    const { response_url } = await house.begin();
    expect((await house.cancel(response_url)).status).to.equal(202);
    const last = house.upstream.requests.at(-1);
    expect([last?.method, last?.path]).to.deep.equal(['POST', '/predictions/p1a2/cancel']);
  });

  for (const [shape, output, files] of OUTPUTS) {
    it(`finds the video in ${shape}`, async () => {
      states.push(prediction('succeeded', { output: output(FILE) }));
      const task = await house.begin();
      const { status } = await house.later(task.status_url);
      expect(status).to.equal(files > 0 ? 'COMPLETED' : 'FAILED');
    });
  }

  it('tells a failure by its text', async () => {
    const error = 'The input was flagged as sensitive. (E005)';
    for (const [say, words] of [
      [prediction('failed', { error }), error],
      [prediction('aborted'), 'The video was cancelled.'],
      [prediction('failed'), 'The upstream gave no reason.'],
    ] as const) {
      states.splice(0, 1, say);
      const told = await house.later((await house.begin()).status_url);
      expect(told).to.include({ status: 'FAILED', error: words });
    }
  });
});
