import { expect } from 'chai';
import { get } from 'node:http';
import { ask, errorOf, type Answer } from '../../helpers/ask.js';
import { startGateway } from '../../helpers/gateway.js';
import { expectShape } from '../../helpers/schemas.js';
import { until } from '../../helpers/until.js';
import { PNG } from '../image/helpers/image-bytes.js';
import { dollars, MODEL, POLL_MS, START_MS, startVideoGateway } from './helpers/video-gateway.js';
import { refused, type VideoGateway } from './helpers/video-gateway.js';
import { answer as answerOf, REEL, reelsOf } from './helpers/video-upstream.js';

const TEN = dollars(10);
/** Four seconds, which are made where no more is asked for. */
const PRICE = dollars(0.8);
const UNKNOWN = 'video_01a1d1b0-0000-7000-8000-000000000000';
const DAY_MS = 86_400_000;

interface Video {
  id: string;
  status: string;
  [name: string]: unknown;
}

describe("OpenAI's videos", () => {
  let studio: VideoGateway;
  beforeEach(async () => {
    studio = await startVideoGateway();
  });
  afterEach(() => studio.close());

  const at = (id: string, rest = ''): string => `/v1/videos/${id}${rest}`;

  async function create(more: object = {}): Promise<string> {
    const { status, text } = await ask(studio, '/v1/videos', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, prompt: 'a cat', ...more }),
    });
    expect(status, text).to.equal(200);
    return shaped(text).id;
  }

  function shaped(text: string): Video {
    const body = JSON.parse(text) as Video;
    expectShape('openai-video#/$defs/video', body);
    return body;
  }

  async function retrieve(id: string): Promise<Video> {
    const { status, text } = await studio.get(at(id));
    expect(status, text).to.equal(200);
    return shaped(text);
  }

  const download = (id: string, init: RequestInit = {}): Promise<Answer> =>
    studio.get(at(id, '/content'), init);

  const as = (secret: string, path: string, init: RequestInit = {}): Promise<Answer> =>
    ask({ url: studio.url, secret }, path, init);

  async function expectBooks(balance: bigint, held: bigint, charges: bigint[]): Promise<void> {
    expect(await studio.books()).to.deep.equal({ balance, held, charges, faults: [] });
  }

  it('are held when they are asked for, and charged by their download alone', async () => {
    studio.lab.onPoll = (film, nth) =>
      nth === 1 ? { state: 'shooting' } : { state: 'done', reels: [`/reels/${film}`] };
    const id = await create({ size: '1280x720' });
    await expectBooks(TEN, PRICE, []);
    const head = {
      id,
      object: 'video',
      model: MODEL,
      created_at: START_MS / 1_000,
      error: null,
      prompt: null,
      remixed_from_video_id: null,
      seconds: '4',
      size: '1280x720',
    };
    const open = { completed_at: null, expires_at: null };
    expect(await retrieve(id)).to.deep.equal({
      ...head,
      ...open,
      status: 'in_progress',
      progress: 0,
    });
    studio.now_ms += POLL_MS;
    const ended = (START_MS + POLL_MS) / 1_000;
    const done = {
      ...head,
      status: 'completed',
      progress: 100,
      completed_at: ended,
      expires_at: ended + DAY_MS / 1_000,
    };
    expect(await retrieve(id)).to.deep.equal(done);
    await expectBooks(TEN, PRICE, []);
    studio.now_ms += 60_000;
    const { status, text, headers } = await download(id);
    expect([status, Buffer.byteLength(text) > 0]).to.deep.equal([200, true]);
    expect(headers.get('content-type')).to.equal('video/mp4');
    await expectBooks(TEN - PRICE, 0n, [-PRICE]);
    expect(await retrieve(id)).to.deep.equal(done);
    expect((await download(id)).status).to.equal(200);
    await expectBooks(TEN - PRICE, 0n, [-PRICE]);
  });

  it('say in the ledger what the queue says there', async () => {
    const id = await create();
    await download(id);
    const rows = await studio.gateway.store.ledger(studio.account.id, { limit: 9 });
    const charge = rows.find(({ kind }) => kind === 'charge');
    expect(charge).to.deep.include({
      reference: id.replace('video_', ''),
      model: MODEL,
      provider: 'lab',
      key_id: studio.key_id,
    });
    expect(JSON.parse(charge?.usage ?? '')).to.deep.equal({
      video_seconds: 4,
      video_resolution: '720p',
      video_has_audio: true,
    });
  });

  it('can be downloaded without being asked about, and not before they are ready', async () => {
    studio.lab.onPoll = (film, nth) =>
      nth === 1 ? { state: 'shooting' } : { state: 'done', reels: [`/reels/${film}`] };
    const id = await create();
    expect(refused(await download(id))).to.deep.equal([404, 'not_found', 'videoID']);
    await expectBooks(TEN, PRICE, []);
    studio.now_ms += POLL_MS;
    expect((await download(id)).status).to.equal(200);
    await expectBooks(TEN - PRICE, 0n, [-PRICE]);
  });

  it('are charged once with the queue, whichever of the two is first', async () => {
    const first = await create();
    await download(first);
    expect((await studio.result(first.replace('video_', ''))).data).to.have.length(1);
    await expectBooks(TEN - PRICE, 0n, [-PRICE]);
    const second = await studio.begin({ duration_seconds: 4 });
    await studio.result(second);
    expect((await retrieve(`video_${second}`)).status).to.equal('completed');
    expect((await download(`video_${second}`)).status).to.equal(200);
    await expectBooks(TEN - 2n * PRICE, 0n, [-PRICE, -PRICE]);
  });

  it('that are several of one task are had from the queue', async () => {
    const id = await studio.begin({ duration_seconds: 2, sample_count: 2 });
    const answer = await download(`video_${id}`);
    expect(refused(answer)).to.deep.equal([400, 'invalid_request', 'videoID']);
    const path = /GET (\S+)/u.exec(errorOf(answer).message)?.[1] ?? '';
    await expectBooks(TEN, PRICE, []);
    expect((await studio.get(path)).text).to.include('"data"');
  });

  it('are charged before their first byte goes out', async () => {
    const id = await create();
    const { store } = studio.gateway;
    store.tasks.charge = () => Promise.reject(new Error('The store is away.'));
    const answer = await download(id);
    expect([answer.status, errorOf(answer).code]).to.deep.equal([500, 'internal_error']);
    await expectBooks(TEN, PRICE, []);
  });

  const troubles = {
    'is not there any more': answerOf(404),
    breaks: answerOf(500),
    'is a page': answerOf(200, '{}'),
  };
  for (const [what, say] of Object.entries(troubles)) {
    it(`cost nothing where their file ${what}`, async () => {
      studio.lab.onReel = (received, response) =>
        (say as (r: typeof response, q: typeof received) => void)(response, received);
      const id = await create();
      expect(refused(await download(id)).slice(0, 2)).to.deep.equal([502, 'upstream_error']);
      await expectBooks(TEN, PRICE, []);
    });
  }

  it('are charged once where their bytes are cut, however often', async () => {
    const { onReel } = studio.lab;
    studio.lab.onReel = (_received, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': REEL.length });
      response.write(REEL.subarray(0, 400), () => response.destroy());
    };
    const id = await create();
    for (let round = 0; round < 3; round += 1) {
      const cut: unknown = await download(id).catch((error: unknown) => error);
      expect(cut).to.be.instanceOf(Error);
      await expectBooks(TEN - PRICE, 0n, [-PRICE]);
    }
    studio.lab.onReel = onReel;
    expect((await download(id)).status).to.equal(200);
    await expectBooks(TEN - PRICE, 0n, [-PRICE]);
  });

  /** From now on the upstream keeps the bytes of a video until they are released. */
  function holdReel(): { isAsked: boolean; release: () => void } {
    const held = { isAsked: false, release: (): void => undefined };
    const gate = new Promise<void>((resolve) => (held.release = resolve));
    studio.lab.onReel = async (_received, response) => {
      held.isAsked = true;
      await gate;
      response.end(REEL);
    };
    return held;
  }

  it('cost nothing to a client that leaves before they come', async () => {
    const reel = holdReel();
    const id = await create();
    const headers = { authorization: `Bearer ${studio.secret}` };
    const client = get(`${studio.url}${at(id, '/content')}`, { headers });
    client.on('error', () => undefined);
    await until(() => reel.isAsked, 'the upstream is asked');
    client.destroy();
    await until(() => studio.gateway.inflight === 0, 'the gateway has let go');
    reel.release();
    await expectBooks(TEN, PRICE, []);
  });

  it('come in ranges, of which the first is charged for all', async () => {
    const id = await create();
    const range = (bytes: string) => download(id, { headers: { range: `bytes=${bytes}` } });
    const past = await range('5000-');
    expect(refused(past).slice(0, 2)).to.deep.equal([416, 'range_not_satisfiable']);
    expect(past.headers.get('content-range')).to.equal('bytes */1000');
    await expectBooks(TEN, PRICE, []);
    for (const bytes of ['0-9', '10-19', '-10']) {
      const { status, headers } = await range(bytes);
      expect(status).to.equal(206);
      expect(headers.get('content-length')).to.equal('10');
    }
    await expectBooks(TEN - PRICE, 0n, [-PRICE]);
  });

  it('show their head for nothing', async () => {
    const id = await create();
    const { status, headers, text } = await download(id, { method: 'HEAD' });
    expect([status, headers.get('content-length'), text]).to.deep.equal([200, '1000', '']);
    await expectBooks(TEN, PRICE, []);
  });

  it('have neither thumbnails nor spritesheets, and are not charged for them', async () => {
    const id = await create();
    for (const variant of ['thumbnail', 'spritesheet', '']) {
      const answer = await studio.get(at(id, `/content?variant=${variant}`));
      expect(refused(answer)).to.deep.equal([400, 'invalid_request', 'variant']);
    }
    await expectBooks(TEN, PRICE, []);
    expect((await studio.get(at(id, '/content?variant=video&x=1'))).status).to.equal(200);
  });

  it('fail with a reason, and then cost nothing', async () => {
    studio.lab.onPoll = () => ({ state: 'broken', why: 'No light.' });
    const id = await create();
    const { status, error, completed_at, progress } = await retrieve(id);
    expect({ status, error, completed_at, progress }).to.deep.equal({
      status: 'failed',
      error: { code: 'video_generation_failed', message: 'No light.' },
      completed_at: null,
      progress: 0,
    });
    expect(refused(await download(id))).to.deep.equal([404, 'not_found', 'videoID']);
    await expectBooks(TEN, 0n, []);
  });

  it('keep their state where the upstream cannot be asked, and their download says 502', async () => {
    studio.lab.onPoll = () => answerOf(500);
    const id = await create();
    expect((await retrieve(id)).status).to.equal('queued');
    studio.now_ms += POLL_MS;
    expect(refused(await download(id)).slice(0, 2)).to.deep.equal([502, 'upstream_error']);
    await expectBooks(TEN, PRICE, []);
  });

  it('end with their retention', async () => {
    const id = await create();
    expect((await retrieve(id)).status).to.equal('completed');
    studio.now_ms += DAY_MS;
    for (const rest of ['', '/content']) {
      expect(refused(await studio.get(at(id, rest)))).to.deep.equal([
        404,
        'invalid_request_id',
        'videoID',
      ]);
    }
    await expectBooks(TEN, 0n, []);
  });

  it('are a 404 to other accounts, as are IDs of none', async () => {
    const id = await create();
    const { store } = studio.gateway;
    const { secret } = await store.createKey((await store.createAccount('eve', TEN)).id, 'k');
    const wrong = [id.replace('video_', ''), UNKNOWN, 'video_', 'x', "video_'%20or%201=1", '%00'];
    const calls = [
      ...wrong.map((one) => [studio.secret, one] as const),
      ...[id, UNKNOWN].map((one) => [secret, one] as const),
    ];
    for (const [by, one] of calls) {
      for (const [method, rest] of [
        ['GET', ''],
        ['GET', '/content'],
        ['DELETE', ''],
      ] as const) {
        const answer = await as(by, at(one, rest), { method });
        expect(refused(answer), one).to.deep.equal([404, 'invalid_request_id', 'videoID']);
      }
    }
    const { text } = await as(secret, '/v1/videos');
    expect((JSON.parse(text) as { data: Video[] }).data).to.deep.equal([]);
    await expectBooks(TEN, PRICE, []);
  });

  it('are no revoked key’s, and only those of the models of a key', async () => {
    const id = await create();
    const { store } = studio.gateway;
    const { key, secret } = await store.createKey(studio.account.id, 'other');
    const narrow = await store.createKey(studio.account.id, 'n', { models: ['sibling'] });
    expect((await as(secret, at(id))).status).to.equal(200);
    await store.revokeKey(key.id, studio.account.id);
    for (const path of [at(id), at(id, '/content'), '/v1/videos']) {
      expect(refused(await as(secret, path)).slice(0, 2)).to.deep.equal([401, 'invalid_api_key']);
    }
    for (const rest of ['', '/content']) {
      const answer = await as(narrow.secret, at(id, rest));
      expect(refused(answer)).to.deep.equal([400, 'model_not_allowed', 'model']);
    }
    const { text } = await as(narrow.secret, '/v1/videos');
    expect((JSON.parse(text) as { data: Video[] }).data).to.deep.equal([]);
    await expectBooks(TEN, PRICE, []);
  });

  it('are repeated under an Idempotency-Key, and made once', async () => {
    const make = () =>
      ask(studio, '/v1/videos', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
        body: JSON.stringify({ model: MODEL, prompt: 'a cat' }),
      });
    const [first, second] = [await make(), await make()];
    expect([second.status, second.text]).to.deep.equal([200, first.text]);
    expect(second.headers.get('idempotent-replayed')).to.equal('true');
    expect(studio.lab.films).to.have.length(1);
  });

  it('are refused without money, and where the upstream takes none', async () => {
    const poor = await startVideoGateway({ credit: '0.5' });
    try {
      const body = JSON.stringify({ model: MODEL, prompt: 'a cat' });
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      const answer = await ask(poor, '/v1/videos', init);
      expect(refused(answer).slice(0, 2)).to.deep.equal([402, 'insufficient_balance']);
      studio.lab.onSubmit = () => answerOf(500);
      const failed = await ask(studio, '/v1/videos', init);
      expect(refused(failed).slice(0, 2)).to.deep.equal([502, 'upstream_error']);
      await expectBooks(TEN, 0n, []);
    } finally {
      await poor.close();
    }
  });

  it('are what another gateway makes its own of', async () => {
    const front = await startGateway(
      `owners: { me: { name: Me } }
providers: { back: { uses: videos-api, base_url: '${studio.url}/v1', api_key: ${studio.secret} } }
models:
  film: { owner: me, capabilities: [video], upstreams: [{ provider: back, model: ${MODEL} }], price: { per_video_second: 0.5 } }`,
      { now: () => studio.now_ms },
    );
    try {
      const image_url = `data:image/png;base64,${PNG.toString('base64')}`;
      const { status, text } = await ask(front, '/v1/videos', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'film', prompt: 'a', input_reference: { image_url } }),
      });
      expect(status, text).to.equal(200);
      const content = at(shaped(text).id, '/content');
      expect(studio.lab.films[0]?.body).to.deep.include({ duration_seconds: 4 });
      expect(studio.lab.films[0]?.body).to.have.nested.property('image.mime_type', 'image/png');
      expect((await ask(front, content, { headers: { range: 'bytes=0-9' } })).status).to.equal(206);
      expect((await ask(front, content)).status).to.equal(200);
      await expectBooks(TEN - PRICE, 0n, [-PRICE]);
      const account = await front.gateway.store.account(front.account.id);
      expect(account?.balance_nano).to.equal(TEN - dollars(2));
    } finally {
      await front.close();
    }
  });

  describe('in a list', () => {
    interface List {
      data: Video[];
      first_id: string | null;
      last_id: string | null;
      has_more: boolean;
    }

    async function list(query = ''): Promise<List> {
      const { status, text } = await studio.get(`/v1/videos${query}`);
      expect(status, text).to.equal(200);
      expectShape('openai-video#/$defs/list', JSON.parse(text));
      return JSON.parse(text) as List;
    }

    it('are of the account, newest first, page by page', async () => {
      expect(await list()).to.deep.include({ data: [], last_id: null, has_more: false });
      const ids: string[] = [];
      for (let made = 0; made < 5; made += 1) {
        ids.unshift(await create({ model: made % 2 ? MODEL : 'sibling' }));
        studio.now_ms += 1;
      }
      const seen = async (query: string) => {
        const { data, has_more } = await list(query);
        return [data.map(({ id }) => id), has_more];
      };
      expect(await seen('')).to.deep.equal([ids, false]);
      expect(await seen('?limit=2')).to.deep.equal([ids.slice(0, 2), true]);
      expect(await seen(`?limit=2&after=${ids[1]}`)).to.deep.equal([ids.slice(2, 4), true]);
      expect(await seen(`?limit=5&after=${ids[1]}`)).to.deep.equal([ids.slice(2), false]);
      const asc = ids.toReversed();
      expect(await seen(`?order=asc&limit=2&after=${asc[0]}`)).to.deep.equal([
        asc.slice(1, 3),
        true,
      ]);
      expect(await list('?limit=2')).to.deep.include({ first_id: ids[0], last_id: ids[1] });
    });

    it('goes on after a video that was deleted', async () => {
      studio.lab.onPoll = () => ({ state: 'broken', why: 'No light.' });
      const ids = [await create(), await create()].toSorted();
      const init = { method: 'DELETE' };
      expect((await studio.get(at(ids[1] ?? ''), init)).status).to.equal(200);
      const { data } = await list(`?after=${ids[1]}`);
      expect(data.map(({ id }) => id)).to.deep.equal([ids[0]]);
    });

    it('are as they were last known, without those that have expired', async () => {
      const id = await create();
      expect((await list()).data.map(({ status }) => status)).to.deep.equal(['queued']);
      expect(studio.lab.asked.size).to.equal(0);
      await retrieve(id);
      expect((await list()).data.map(({ status }) => status)).to.deep.equal(['completed']);
      studio.now_ms += DAY_MS;
      expect((await list()).data).to.deep.equal([]);
      await expectBooks(TEN, 0n, []);
    });

    for (const [query, param] of [
      ['?limit=0', 'limit'],
      ['?limit=101', 'limit'],
      ['?limit=x', 'limit'],
      ['?order=up', 'order'],
      ['?after=x', 'after'],
      ['?after=video_%00', 'after'],
    ]) {
      it(`refuse ${query}`, async () => {
        const answer = await studio.get(`/v1/videos${query}`);
        expect(refused(answer)).to.deep.equal([400, 'invalid_request', param]);
      });
    }
  });

  describe('that are deleted', () => {
    const remove = (id: string): Promise<Answer> => studio.get(at(id), { method: 'DELETE' });

    async function expectDeleted(id: string): Promise<void> {
      const { status, text } = await remove(id);
      expect(status, text).to.equal(200);
      const body: unknown = JSON.parse(text);
      expectShape('openai-video#/$defs/deletion', body);
      expect(body).to.deep.equal({ id, object: 'video.deleted', deleted: true });
      expect((await studio.get(at(id))).status).to.equal(404);
      expect((await remove(id)).status).to.equal(404);
    }

    it('are gone after their download, and their charge stays', async () => {
      const id = await create();
      await download(id);
      await expectDeleted(id);
      expect(refused(await download(id))[0]).to.equal(404);
      await expectBooks(TEN - PRICE, 0n, [-PRICE]);
    });

    it('are a 404 to a download that still waits for their bytes', async () => {
      const { onReel } = studio.lab;
      const reel = holdReel();
      const id = await create();
      const waiting = download(id);
      await until(() => reel.isAsked, 'the upstream is asked');
      studio.lab.onReel = onReel;
      await download(id);
      await expectDeleted(id);
      reel.release();
      expect(refused(await waiting).slice(0, 2)).to.deep.equal([404, 'not_found']);
      await expectBooks(TEN - PRICE, 0n, [-PRICE]);
    });

    it('are a 404 to a download that has found them, and not their bytes', async () => {
      const id = await create();
      const { tasks } = studio.gateway.store;
      const place = tasks.place.bind(tasks);
      let isFirst = true;
      tasks.place = async (task_id, index) => {
        if (isFirst) {
          isFirst = false;
          await download(id);
          await expectDeleted(id);
        }
        return place(task_id, index);
      };
      expect(refused(await download(id)).slice(0, 2)).to.deep.equal([404, 'not_found']);
      await expectBooks(TEN - PRICE, 0n, [-PRICE]);
    });

    it('are gone after a failure', async () => {
      studio.lab.onPoll = () => ({ state: 'broken', why: 'No light.' });
      await expectDeleted(await create());
      await expectBooks(TEN, 0n, []);
    });

    it('are cancelled where their upstream has not begun', async () => {
      studio.lab.onPoll = () => ({ state: 'waiting' });
      await expectDeleted(await create());
      expect(studio.lab.requests.at(-1)?.path).to.equal('/films/f1/cancel');
      await expectBooks(TEN, 0n, []);
    });

    it('stay while they are being made', async () => {
      studio.lab.onPoll = () => ({ state: 'shooting' });
      const id = await create();
      expect(refused(await remove(id))).to.deep.equal([400, 'too_late_to_cancel', 'videoID']);
      expect((await retrieve(id)).status).to.equal('in_progress');
      await expectBooks(TEN, PRICE, []);
    });

    it('stay with their hold until they are paid for, as their upstream was', async () => {
      const id = await create();
      await retrieve(id);
      expect(refused(await remove(id))).to.deep.equal([400, 'invalid_request', 'videoID']);
      await expectBooks(TEN, PRICE, []);
      expect((await download(id)).status).to.equal(200);
      await expectDeleted(id);
    });
  });

  it('count the part of a task that is done as its progress', async () => {
    const { text } = await studio.submit(
      { prompt: 'x', parameters: { sample_count: 4, duration_seconds: 1 } },
      'single',
    );
    const id = `video_${(JSON.parse(text) as { request_id: string }).request_id}`;
    studio.lab.onPoll = (film) =>
      film === 'f1' ? { state: 'done', reels: reelsOf(studio.lab, film) } : { state: 'shooting' };
    expect((await retrieve(id)).progress).to.equal(25);
  });
});
