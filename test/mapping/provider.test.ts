import { expect } from 'chai';
import {
  MP4,
  PNG,
  refusal,
  startMedia,
  videosIn,
  type MediaHouse,
} from './helpers/manifest-gateway.js';

/** A provider that nobody has heard of: all that the gateway knows of it is this file. */
const MANIFEST = `name: Easel
base_url: http://127.0.0.1:9
auth: { header: X-Easel-Token }
operations:
  image:
    path: /v7/paint/{model}
    max: 3
    accepts: { size: [512x512, 1024x1024] }
    request:
      wish: { concat: ['Paint: ', $.prompt] }
      copies: $.n
      canvas: { w: $.size.width, h: $.size.height }
      fine: { map: { hd: true, standard: false }, from: $.quality }
      mood: { when: $.style, then: $.style, else: calm }
      seed: $.fields.seed
    response:
      images:
        each: $.paintings
        where: { not: $.spoilt }
        do: { b64_json: $.pixels, revised_prompt: $.title }
      usage: { prompt_tokens: $.meter.in, completion_tokens: $.meter.out }
      error: { when: { equals: [$.mood, sulking] }, then: $.because }
errors:
  message: { join: $.complaints, with: ' ' }
  code: $.kind
  policy: [indecent]
  quota: [no paint]
`;

describe('a provider that is one new YAML file', () => {
  let house: MediaHouse;
  before(async () => {
    house = await startMedia({
      provider: 'uses: ./easel.yaml',
      model: 'oil/large 2',
      files: { 'easel.yaml': MANIFEST },
      script: () => ({}),
      capability: 'image',
    });
  });
  after(() => house.close());

  it('is asked in its own words', async () => {
    house.script = () => ({
      json: {
        paintings: [
          { pixels: PNG, title: 'A cat, oil' },
          { pixels: '', spoilt: true },
        ],
        meter: { in: 12, out: 340 },
      },
    });
    const body = { n: 2, size: '512x512', quality: 'hd', seed: 3, response_format: 'b64_json' };
    const { status, text } = await house.draw(body);
    expect(status, text).to.equal(200);
    const { data, usage } = JSON.parse(text) as { data: unknown[]; usage: unknown };
    expect(data).to.deep.equal([{ b64_json: PNG, revised_prompt: 'A cat, oil' }]);
    expect(usage).to.include({ prompt_tokens: 12, completion_tokens: 340 });
    const { path, headers, json } = house.upstream.requests.at(-1) ?? {};
    expect(path).to.equal('/v7/paint/oil/large%202');
    expect(headers).to.have.property('x-easel-token');
    expect(json).to.deep.equal({
      wish: 'Paint: a cat',
      copies: 2,
      canvas: { w: 512, h: 512 },
      fine: true,
      mood: 'calm',
      seed: 3,
    });
  });

  it('is asked by several calls for more than it makes at once', async () => {
    const before = house.upstream.requests.length;
    house.script = ({ json }) => {
      const { copies } = json as { copies: number };
      return { json: { paintings: Array.from({ length: copies }, () => ({ pixels: PNG })) } };
    };
    const { text } = await house.draw({ n: 5, response_format: 'b64_json' });
    expect((JSON.parse(text) as { data: object[] }).data).to.have.length(5);
    const asked = house.upstream.requests.slice(before).map(({ json }) => json);
    expect(asked.map((one) => (one as { copies: number }).copies)).to.have.members([3, 2]);
  });

  it('is refused by the values that it accepts', async () => {
    const error = refusal(await house.draw({ size: '640x480' }));
    expect(error).to.include({ status: 400, code: 'invalid_request' });
    expect(error.message).to.include('512x512 or 1024x1024');
  });

  for (const [what, status, json, code, words] of [
    [
      'a refusal',
      409,
      { kind: 'INDECENT_WISH', complaints: ['Not', 'this.'] },
      'content_policy_violation',
      'Not this.',
    ],
    [
      'a mistake',
      422,
      { kind: 'bad', complaints: ['Too many copies.'] },
      'invalid_request',
      'Too many',
    ],
    [
      'an empty account',
      400,
      { complaints: ['No paint left.'] },
      'upstream_error',
      'out of credit',
    ],
    ['a failure', 500, { complaints: ['secret stack'] }, 'upstream_error', 'status 500'],
    [
      'a refusal in a 200',
      200,
      { mood: 'sulking', because: 'indecent' },
      'content_policy_violation',
      'indecent',
    ],
    ['a failure in a 200', 200, { mood: 'sulking', because: 'tired' }, 'upstream_error', 'failed'],
    ['an answer without images', 200, { paintings: 'none' }, 'upstream_error', 'no image'],
    ['an answer of another kind', 200, [1, [2]], 'upstream_error', 'no image'],
  ] as const) {
    it(`tells ${what}`, async () => {
      house.script = () => ({ status, json });
      const error = refusal(await house.draw());
      expect(error.code, error.message).to.equal(code);
      expect(error.message).to.include(words);
    });
  }
});

/** Its videos: two a task, found by a second question, and shown to those with the key only. */
const REEL = `name: Reel
base_url: http://127.0.0.1:9
auth: { header: X-Reel-Token }
operations:
  video.submit:
    path: /v2/films
    max: 2
    headers: { X-Reel-Version: '2' }
    accepts: { aspect_ratio: ['16:9'] }
    request: { scene: $.prompt, takes: $.sample_count, model: $model }
    response: { state: { film: $.film.number } }
  video.status:
    path: '/v2/films/{$.film}'
    response:
      status: { map: { waiting: IN_QUEUE, developed: COMPLETED, torn: FAILED }, from: $.is }
      error: $.why
  video.result:
    path: '/v2/films/{$state.film}/reels'
    response:
      videos: { each: $.reels, do: { url: { concat: [/v2/reels/, $] } } }
      error: { when: { equals: [$status, 410] }, then: The reels are gone. }
  video.content: { credentials: true }
`;

describe('a provider of videos that is one new YAML file', () => {
  let house: MediaHouse;
  let told: object;
  let reels: { status?: number; json: unknown };
  beforeEach(async () => {
    told = { is: 'waiting' };
    reels = { json: { reels: ['a', 'b', 'c'] } };
    house = await startMedia({
      provider: 'uses: ./reel.yaml',
      model: 'celluloid',
      files: { 'reel.yaml': REEL },
      script: ({ method, path }) => {
        if (method === 'POST') return { json: { film: { number: 77 } } };
        if (path.startsWith('/v2/reels/')) return { bytes: MP4 };
        return path.endsWith('/reels') ? reels : { json: told };
      },
      capability: 'video',
    });
  });
  afterEach(() => house.close());

  it('is submitted to, asked, and asked once more for the videos', async () => {
    const task = await house.begin({ sample_count: 2 });
    expect(house.upstream.requests[0]).to.deep.include({
      path: '/v2/films',
      json: { scene: 'a cat', takes: 2, model: 'celluloid' },
    });
    expect(house.upstream.requests[0]?.headers).to.include({ 'x-reel-version': '2' });
    expect(await house.later(task.status_url)).to.include({ status: 'IN_QUEUE' });
    told = { is: 'developed' };
    const result = await house.later(task.response_url);
    const [first = '', second = ''] = videosIn(result);
    expect(videosIn(result)).to.have.length(2);
    for (const address of [first, second]) {
      const { status } = await house.get(new URL(address, house.url).pathname);
      expect(status).to.equal(200);
    }
    const paths = house.upstream.requests.slice(1).map(({ path }) => path);
    expect(paths).to.deep.equal([
      '/v2/films/77',
      '/v2/films/77',
      '/v2/films/77/reels',
      '/v2/reels/a',
      '/v2/reels/b',
    ]);
    for (const { headers } of house.upstream.requests) {
      expect(headers).to.have.property('x-reel-token');
    }
  });

  it('detects a failure by its status or by its result', async () => {
    const torn = await house.begin();
    told = { is: 'torn', why: 'The film is torn.' };
    expect(await house.later(torn.status_url)).to.include({ error: 'The film is torn.' });
    const gone = await house.begin();
    told = { is: 'developed' };
    reels = { status: 410, json: {} };
    expect(await house.later(gone.status_url)).to.include({ error: 'The reels are gone.' });
  });

  it('refuses a value that accepts does not list', async () => {
    const parameters = { aspect_ratio: '9:16' };
    const error = refusal(await house.submit({ prompt: 'a cat', parameters }));
    expect(error).to.include({ status: 400, param: 'parameters.aspect_ratio' });
    expect(error.message).to.equal('parameters.aspect_ratio must be 16:9 here.');
  });
});
