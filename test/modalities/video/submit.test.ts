import { expect } from 'chai';
import { errorOf } from '../../helpers/ask.js';
import {
  answer,
  hangUp,
  startVideoUpstream,
  type VideoUpstream,
  type Say,
} from './helpers/video-upstream.js';
import {
  dollars,
  MODEL,
  refused,
  startVideoGateway,
  UPSTREAM_KEY,
  type VideoGateway,
} from './helpers/video-gateway.js';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');
const JPEG = Buffer.from('ffd8ffe000104a464946000101000001', 'hex').toString('base64');
const WEBP = Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1').toString('base64');
const GIF = Buffer.from('GIF89a\x01\0\x01\0').toString('base64');

const DEFAULTS = {
  prompt: 'a cat',
  aspect_ratio: '16:9',
  resolution: '720p',
  duration_seconds: 8,
  generate_audio: true,
  sample_count: 1,
};

describe('a video submission', () => {
  let studio: VideoGateway;
  let spare: VideoUpstream;
  beforeEach(async () => {
    spare = await startVideoUpstream();
    const providers = `  spare: { uses: ./lab.yaml, base_url: "${spare.url}", api_key: k }`;
    const price = '{ per_video_second: 0.30 }';
    const upstreams =
      `{ provider: lab, model: film-one }, ` +
      `{ provider: spare, model: film-two, price: ${price} }`;
    studio = await startVideoGateway({ credit: '20', providers, upstreams });
  });
  afterEach(async () => {
    expect((await studio.books()).faults).to.deep.equal([]);
    await studio.close();
    await spare.close();
  });

  const sent = () => studio.lab.films.map(({ body }) => body);

  it('answers 202 with the ID and relative URLs', async () => {
    const { status, text, headers } = await studio.submit();
    expect(status).to.equal(202);
    const { request_id, ...rest } = JSON.parse(text) as { request_id: string };
    expect(rest).to.deep.equal({
      status: 'IN_QUEUE',
      status_url: `/v1/queue/${MODEL}/requests/${request_id}/status`,
      response_url: `/v1/queue/${MODEL}/requests/${request_id}`,
    });
    expect(headers.get('tollgate-ignored')).to.equal(null);
    expect((await studio.get(`/v1/queue/${MODEL}/requests/${request_id}/status`)).status).to.equal(
      200,
    );
  });

  it('takes null in an optional field as if the field were absent', async () => {
    for (const parameters of [null, { resolution: null, image: null, sample_count: null }]) {
      const { status, text } = await studio.submit({ prompt: 'a cat', parameters });
      expect(status, text).to.equal(202);
      expect(sent().at(-1)).to.deep.include(DEFAULTS);
    }
  });

  it('takes the model with its slash raw or encoded, and repeats it as it was written', async () => {
    const encoded = MODEL.replace('/', '%2F');
    const { status, text } = await studio.submit(undefined, encoded);
    expect(status).to.equal(202);
    const { status_url, response_url } = JSON.parse(text) as Record<string, string>;
    expect(status_url).to.contain(`/v1/queue/${encoded}/requests/`);
    expect((await studio.get(status_url ?? '')).status).to.equal(200);
    expect((await studio.get(decodeURIComponent(response_url ?? ''))).status).to.equal(200);
  });

  it('fills in the defaults', async () => {
    await studio.submit();
    expect(sent()).to.deep.equal([{ ...DEFAULTS, model: 'film-one' }]);
    expect(studio.lab.requests[0]?.headers.authorization).to.equal(`Bearer ${UPSTREAM_KEY}`);
  });

  const taken: { parameters: object; sends?: object }[] = [
    { parameters: {} },
    { parameters: { aspect_ratio: '9:16' } },
    { parameters: { resolution: '1080p' } },
    { parameters: { duration_seconds: 1 } },
    { parameters: { duration_seconds: 8 } },
    { parameters: { generate_audio: false } },
    { parameters: { sample_count: 4 } },
    { parameters: { negative_prompt: 'dogs' } },
    { parameters: { image: PNG }, sends: { image: { base64: PNG, mime_type: 'image/png' } } },
    { parameters: { image: JPEG }, sends: { image: { base64: JPEG, mime_type: 'image/jpeg' } } },
    {
      parameters: { image: `data:image/png;base64,${WEBP}` },
      sends: { image: { base64: WEBP, mime_type: 'image/webp' } },
    },
  ];
  for (const { parameters, sends = parameters } of taken) {
    it(`takes ${JSON.stringify(parameters).slice(0, 60)}`, async () => {
      expect((await studio.submit({ prompt: 'a cat', parameters })).status).to.equal(202);
      expect(sent()).to.deep.equal([{ ...DEFAULTS, model: 'film-one', ...sends }]);
    });
  }

  const wrong: { body: object | string; param: string | null }[] = [
    { body: {}, param: 'prompt' },
    { body: { prompt: '' }, param: 'prompt' },
    { body: { prompt: 7 }, param: 'prompt' },
    { body: '[]', param: null },
    { body: 'no json', param: null },
    { body: { prompt: 'x', parameters: [] }, param: 'parameters' },
    ...[
      { aspect_ratio: '1:1' },
      { resolution: '480p' },
      { duration_seconds: 0 },
      { duration_seconds: 9 },
      { duration_seconds: 2.5 },
      { duration_seconds: '8' },
      { duration_seconds: 7 },
      { generate_audio: 'yes' },
      { sample_count: 0 },
      { sample_count: 5 },
      { negative_prompt: 1 },
      { image: '' },
      { image: 'not base64 at all' },
      { image: GIF },
      { image: PNG.slice(0, 5) },
      { image: 'data:image/png;base64,' },
    ].map((parameters) => ({
      body: { prompt: 'x', parameters },
      param: `parameters.${Object.keys(parameters)[0]}`,
    })),
  ];
  for (const { body, param } of wrong) {
    it(`refuses ${JSON.stringify(body).slice(0, 60)}`, async () => {
      expect(refused(await studio.submit(body as object))).to.deep.equal([
        400,
        'invalid_request',
        param,
      ]);
      expect(sent()).to.deep.equal([]);
      expect((await studio.books()).held).to.equal(0n);
    });
  }

  it('drops what it does not know, and says so', async () => {
    const parameters = { seed: 7, duration_seconds: 4, 'x\ny': 1 };
    const { headers } = await studio.submit({ prompt: 'a cat', model: 'm', parameters });
    expect(headers.get('tollgate-ignored')).to.equal('model, parameters.seed, parameters.x?y');
    expect(sent()).to.deep.equal([{ ...DEFAULTS, model: 'film-one', duration_seconds: 4 }]);
  });

  const narrowed: { parameters: object; param?: string }[] = [
    { parameters: { duration_seconds: 8 }, param: 'parameters.duration_seconds' },
    { parameters: { sample_count: 3 }, param: 'parameters.sample_count' },
    { parameters: { resolution: '1080p' }, param: 'parameters.resolution' },
    { parameters: { duration_seconds: 6, sample_count: 2 } },
    { parameters: {} },
  ];
  for (const { parameters, param } of narrowed) {
    it(`lets a model's limits ${param ? 'refuse' : 'take'} ${JSON.stringify(parameters)}`, async () => {
      const result = await studio.submit({ prompt: 'x', parameters }, 'narrow');
      if (param) expect(refused(result)).to.deep.equal([400, 'invalid_request', param]);
      else expect(sent()[0]?.duration_seconds).to.equal(6);
    });
  }

  const models = [
    { model: 'nobody', code: 'model_not_found' },
    { model: 'talk', code: 'unsupported_capability' },
  ];
  for (const { model, code } of models) {
    it(`refuses the model ${model}`, async () => {
      expect(refused(await studio.submit(undefined, model))).to.deep.equal([400, code, 'model']);
    });
  }

  it('refuses in the order 401, 400, 402', async () => {
    const { key, secret } = await studio.gateway.store.createKey(
      (await studio.gateway.store.createAccount('poor', 0n)).id,
      'k',
    );
    const poor = { authorization: `Bearer ${secret}` };
    const none = { authorization: 'Bearer none' };
    expect(refused(await studio.submit({}, MODEL, none))[1]).to.equal('invalid_api_key');
    expect(refused(await studio.submit({}, MODEL, poor))[1]).to.equal('invalid_request');
    expect(refused(await studio.submit(undefined, MODEL, poor))).to.deep.equal([
      402,
      'insufficient_balance',
      null,
    ]);
    expect((await studio.submit(undefined, 'gift', poor)).status).to.equal(202);
    expect(key.account_id).to.not.equal(studio.account.id);
  });

  const prices: { parameters: object; held: number }[] = [
    { parameters: {}, held: 2.4 },
    { parameters: { duration_seconds: 2, sample_count: 3 }, held: 1.8 },
    { parameters: { resolution: '4k', duration_seconds: 5 }, held: 1.5 },
  ];
  for (const { parameters, held } of prices) {
    it(`holds ${held} dollars for ${JSON.stringify(parameters)}, as the dearest asks`, async () => {
      await studio.begin(parameters);
      expect(await studio.books()).to.deep.include({ held: dollars(held), charges: [] });
    });
  }

  it('asks for the exact price to the nano-dollar', async () => {
    const { store } = studio.gateway;
    const { id } = await store.createAccount('exact', dollars(0.4) - 1n);
    const { secret } = await store.createKey(id, 'k');
    const body = { prompt: 'x', parameters: { duration_seconds: 2 } };
    const headers = { authorization: `Bearer ${secret}` };
    const short = await studio.submit(body, 'sibling', headers);
    expect(refused(short)[0]).to.equal(402);
    expect(errorOf(short).message).to.contain('$0.40,').and.contain('$0.399999999');
    await store.credit(id, 1n, 'one');
    expect((await studio.submit(body, 'sibling', headers)).status).to.equal(202);
  });

  it('refuses what has no price, before anything is held', async () => {
    const parameters = { resolution: '4k' };
    expect(refused(await studio.submit({ prompt: 'x', parameters }, 'sibling'))).to.deep.equal([
      400,
      'invalid_request',
      'parameters.resolution',
    ]);
    // Here the second upstream has one.
    expect((await studio.submit({ prompt: 'x', parameters })).status).to.equal(202);
    expect([sent().length, spare.films.length]).to.deep.equal([0, 1]);
  });

  const failures: { what: string; say: Say; status: number; code: string; falls: boolean }[] = [
    {
      what: 'rejects',
      say: answer(400, { error: { message: 'No cats.' } }),
      status: 400,
      code: 'invalid_request',
      falls: false,
    },
    { what: 'breaks', say: answer(500), status: 502, code: 'upstream_error', falls: true },
    { what: 'limits', say: answer(429), status: 502, code: 'upstream_error', falls: true },
    { what: 'hangs up', say: hangUp(), status: 502, code: 'upstream_error', falls: true },
    { what: 'mumbles', say: answer(200, 'hm'), status: 502, code: 'upstream_error', falls: true },
    { what: 'redirects', say: answer(302), status: 502, code: 'upstream_error', falls: true },
  ];
  for (const { what, say, status, code, falls } of failures) {
    it(`answers ${status} and holds nothing where the only upstream ${what}`, async () => {
      studio.lab.onSubmit = () => say;
      const failed = await studio.submit(undefined, 'sibling');
      expect(refused(failed).slice(0, 2)).to.deep.equal([status, code]);
      expect(await studio.books()).to.deep.include({ held: 0n, charges: [] });
      const [task] = await studio.gateway.store.tasks.list({ limit: 1 });
      expect(task).to.deep.include({ status: 'FAILED', error: errorOf(failed).message });
    });

    it(`${falls ? 'asks' : 'does not ask'} the next where the first upstream ${what}`, async () => {
      studio.lab.onSubmit = () => say;
      expect((await studio.submit()).status).to.equal(falls ? 202 : status);
      expect(spare.films.length).to.equal(falls ? 1 : 0);
      const [task] = await studio.gateway.store.tasks.list({ limit: 1 });
      if (falls) expect(task).to.deep.include({ provider: 'spare', upstream_model: 'film-two' });
    });
  }

  it('keeps the price of the upstream that took it', async () => {
    studio.lab.onSubmit = () => answer(500);
    spare.onPoll = () => ({ state: 'done', reels: ['/reels/1'] });
    const id = await studio.begin({ duration_seconds: 2 });
    expect((await studio.result(id)).status).to.equal('COMPLETED');
    expect((await studio.books()).charges).to.deep.equal([-dollars(0.6)]);
  });

  const shares = [
    { model: 'studio/film-1', counts: [4] },
    { model: 'single', counts: [1, 1, 1, 1] },
    { model: 'triple', counts: [3, 1] },
  ];
  for (const { model, counts } of shares) {
    it(`asks for four as ${counts.join(' and ')}, as ${model} wants it`, async () => {
      const parameters = { sample_count: 4, duration_seconds: 1 };
      expect((await studio.submit({ prompt: 'x', parameters }, model)).status).to.equal(202);
      expect(sent().map(({ sample_count }) => sample_count)).to.have.members(counts);
    });
  }

  it('keeps what was taken where an upstream takes only a part', async () => {
    studio.lab.onSubmit = (nth) => (nth === 2 ? answer(429) : undefined);
    const parameters = { sample_count: 3, duration_seconds: 1 };
    const { status, text } = await studio.submit({ prompt: 'x', parameters }, 'single');
    expect(status).to.equal(202);
    const { request_id } = JSON.parse(text) as { request_id: string };
    const result = await studio.result(request_id, 'single');
    expect(result).to.deep.include({ status: 'COMPLETED' });
    expect([result.data?.length, result.usage?.video_seconds]).to.deep.equal([2, 2]);
    expect((await studio.books()).charges).to.deep.equal([-dollars(0.4)]);
  });
});
