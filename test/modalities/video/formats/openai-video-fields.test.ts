import { expect } from 'chai';
import type OpenAI from 'openai';
import { ask, errorOf, type Answer } from '../../../helpers/ask.js';
import { PNG } from '../../image/helpers/image-bytes.js';
import { dollars, MODEL, startVideoGateway, type VideoGateway } from '../helpers/video-gateway.js';

type Params = OpenAI.VideoCreateParams;

/** What becomes of a field: what the upstream is told, or the name that the client is told. */
type Fate = { sent: Record<string, unknown> } | { ignored: string } | { refused: string };

/** The field of a row, what a request has beside a prompt, and what becomes of it. */
type Row = [field: string, request: Record<string, unknown>, fate: Fate];

const BASE64 = PNG.toString('base64');
const DATA_URL = `data:image/png;base64,${BASE64}`;
const IMAGE = { base64: BASE64, mime_type: 'image/png' };

/** Every field that OpenAI's types know: one that is new there does not compile until it is here. */
const FIELDS: Record<keyof Params, Row[]> = {
  model: [
    ['model', { model: MODEL }, { sent: { model: 'film-one' } }],
    ['model, left out, as at OpenAI', { model: undefined }, { sent: { model: 'sora' } }],
    ['model, unknown', { model: 'nobody' }, { refused: 'model' }],
    ['model that makes no videos', { model: 'talk' }, { refused: 'model' }],
  ],
  prompt: [
    ['prompt', { prompt: 'a dog' }, { sent: { prompt: 'a dog' } }],
    ['prompt, empty', { prompt: '' }, { refused: 'prompt' }],
    ['prompt, left out', { prompt: undefined }, { refused: 'prompt' }],
  ],
  seconds: [
    ['seconds, left out, as at OpenAI', {}, { sent: { duration_seconds: 4 } }],
    ['seconds, null', { seconds: null }, { sent: { duration_seconds: 4 } }],
    ['seconds', { seconds: '8' }, { sent: { duration_seconds: 8 } }],
    ['seconds as a number', { seconds: 5 }, { sent: { duration_seconds: 5 } }],
    ['seconds above eight', { seconds: '12' }, { refused: 'seconds' }],
    ['seconds above eight as a number', { seconds: 9 }, { refused: 'seconds' }],
    ['seconds below one', { seconds: '0' }, { refused: 'seconds' }],
    ['seconds, broken', { seconds: '4.5' }, { refused: 'seconds' }],
    ["seconds beyond the model's", { model: 'narrow', seconds: '8' }, { refused: 'seconds' }],
    ['seconds that its upstream refuses', { seconds: '7' }, { refused: 'seconds' }],
  ],
  size: [
    [
      'size, left out, as at OpenAI',
      {},
      { sent: { resolution: '720p', aspect_ratio: '9:16', generate_audio: true } },
    ],
    [
      'size, landscape',
      { size: '1280x720' },
      { sent: { resolution: '720p', aspect_ratio: '16:9' } },
    ],
    [
      'size, larger',
      { size: '1080x1920' },
      { sent: { resolution: '1080p', aspect_ratio: '9:16' } },
    ],
    ['size that is not for sale', { size: '3840x2160' }, { refused: 'size' }],
    ['size that cannot be mapped', { size: '1792x1024' }, { refused: 'size' }],
    ["size beyond the model's", { model: 'narrow', size: '1920x1080' }, { refused: 'size' }],
  ],
  input_reference: [
    ['input_reference', { input_reference: DATA_URL }, { sent: { image: IMAGE } }],
    [
      'input_reference.image_url',
      { input_reference: { image_url: DATA_URL, file_id: null } },
      { sent: { image: IMAGE } },
    ],
    [
      'input_reference.image_url, an address',
      { input_reference: { image_url: 'https://example.org/a.png' } },
      { refused: 'input_reference.image_url' },
    ],
    [
      'input_reference.file_id',
      { input_reference: { file_id: 'file-1' } },
      { refused: 'input_reference.file_id' },
    ],
    [
      'input_reference that is no image',
      { input_reference: 'data:video/mp4;base64,AAAAIGZ0eXA=' },
      { refused: 'input_reference' },
    ],
  ],
};

/** Words beside OpenAI's. */
const OTHERS: Row[] = [
  ['generate_audio', { generate_audio: false }, { sent: { generate_audio: false } }],
  ['negative_prompt', { negative_prompt: 'rain' }, { sent: { negative_prompt: 'rain' } }],
  ['n of one', { n: 1 }, { sent: { sample_count: 1 } }],
  ['n above one', { n: 2 }, { refused: 'n' }],
  ['sound that is not for sale', { model: 'silent' }, { sent: { generate_audio: false } }],
  [
    'sound that is not for sale, asked for',
    { model: 'silent', generate_audio: true },
    { refused: 'size' },
  ],
  ['user', { user: 'u' }, { ignored: 'user' }],
  ['metadata', { metadata: { a: 'b' } }, { ignored: 'metadata' }],
  ['an unknown field of null', { metadata: null }, { sent: { duration_seconds: 4 } }],
  ...[
    'characters',
    'video',
    'remix_video_id',
    'resolution',
    'aspect_ratio',
    'duration',
    'duration_seconds',
    'sample_count',
    'parameters',
  ].map((name): Row => [name, { [name]: 'x' }, { refused: name }]),
];

const SILENT = 'price: { per_video_second: { 720p: { silent: 0.10 } } }';

describe("the fields of OpenAI's video requests", () => {
  let studio: VideoGateway;
  before(async () => {
    const video = 'owner: studio, capabilities: [video], upstreams:';
    studio = await startVideoGateway({
      credit: '1000',
      models: [
        `  sora-2: { ${video} [{ provider: lab, model: sora }], price: { per_video_second: 0.1 } }`,
        `  silent: { ${video} [{ provider: lab }], ${SILENT} }`,
      ].join('\n'),
    });
  });
  after(() => studio.close());

  const bodyOf = (request: object) => ({ model: MODEL, prompt: 'a cat', ...request });

  function asJson(request: object): Promise<Answer> {
    return ask(studio, '/v1/videos', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(request)),
    });
  }

  function asForm(request: object): Promise<Answer> {
    const body = new FormData();
    for (const [name, value] of Object.entries(bodyOf(request))) {
      if (value === undefined || value === null) continue;
      if (typeof value !== 'object') body.append(name, String(value));
      else {
        for (const [inner, said] of Object.entries(value as object)) {
          if (said !== null) body.append(`${name}[${inner}]`, String(said));
        }
      }
    }
    return ask(studio, '/v1/videos', { method: 'POST', body });
  }

  async function expectFate(answer: Answer, taken: number, fate: Fate): Promise<void> {
    if ('refused' in fate) {
      expect([answer.status, errorOf(answer).param]).to.deep.equal([400, fate.refused]);
      expect(errorOf(answer).message).not.to.match(/parameters\./u);
      expect(studio.lab.films).to.have.length(taken);
      expect((await studio.books()).faults).to.deep.equal([]);
      return;
    }
    expect(answer.status, answer.text).to.equal(200);
    expect(studio.lab.films).to.have.length(taken + 1);
    const named = answer.headers.get('tollgate-ignored');
    expect(named).to.equal('ignored' in fate ? fate.ignored : null);
    if ('sent' in fate) expect(studio.lab.films.at(-1)?.body).to.deep.include(fate.sent);
  }

  const rows = [...Object.values(FIELDS).flat(), ...OTHERS];
  for (const [field, request, fate] of rows) {
    const verb = Object.keys(fate)[0];
    it(`has ${field} ${verb}, in JSON`, async () => {
      const taken = studio.lab.films.length;
      await expectFate(await asJson(request), taken, fate);
    });
    // A form has no lists of objects here, and its nested fields that are unknown keep their names.
    if (field === 'metadata') continue;
    it(`has ${field} ${verb}, in a form`, async () => {
      const taken = studio.lab.films.length;
      await expectFate(await asForm(request), taken, fate);
    });
  }

  it('takes a file of a form', async () => {
    const body = new FormData();
    for (const [name, value] of Object.entries(bodyOf({}))) body.append(name, value);
    const file = new File([new Uint8Array(PNG)], 'a.png', { type: 'image/png' });
    body.append('input_reference', file);
    const { status, text } = await ask(studio, '/openai/v1/videos', { method: 'POST', body });
    expect(status, text).to.equal(200);
    expect(studio.lab.films.at(-1)?.body.image).to.deep.equal(IMAGE);
  });

  it('tells what is refused in the sizes and seconds of this API', async () => {
    const said = async (request: object) => errorOf(await asJson(request)).message;
    expect(await said({ model: 'narrow', size: '1920x1080' })).to.equal(
      'size must be one of 1280x720 for narrow.',
    );
    expect(await said({ model: 'narrow', seconds: '8' })).to.equal(
      'seconds must be at most 6 for narrow.',
    );
    expect(await said({ size: '3840x2160' })).to.equal(
      '3840x2160 with audio (generate_audio) is not offered here.',
    );
    expect(await said({ seconds: '12' })).to.equal('seconds must be a whole number from 1 to 8.');
  });

  it('holds the price of what it was mapped to', async () => {
    const { held: before } = await studio.books();
    expect((await asJson({ size: '1920x1080', seconds: '5' })).status).to.equal(200);
    expect((await studio.books()).held - before).to.equal(dollars(1.5));
  });
});
