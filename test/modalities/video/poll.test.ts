import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { checkOrThrow } from '../../../src/gateway/gateway.js';
import { errorOf } from '../../helpers/ask.js';
import { until } from '../../helpers/until.js';
import { answer, hangUp, reelsOf, type Say } from './helpers/video-upstream.js';
import {
  dollars,
  MODEL,
  POLL_MS,
  refused,
  startVideoGateway,
  type VideoGateway,
} from './helpers/video-gateway.js';

const HOUR_MS = 3_600_000;
const UNKNOWN = '2f1e5e0c-7f0e-4d5e-9b7c-0c8f4a1d2e3f';
const TEN = dollars(10);

describe('a video task', () => {
  let studio: VideoGateway;
  beforeEach(async () => {
    studio = await startVideoGateway();
  });
  afterEach(async () => {
    expect((await studio.books()).faults).to.deep.equal([]);
    await studio.close();
  });

  const says = (...says: Say[]) => {
    studio.lab.onPoll = (_film, nth) => says[Math.min(nth, says.length) - 1] ?? {};
  };
  const done = () => ({ state: 'done', reels: ['/reels/0'] });
  const path = (id: string, model = MODEL) => `/v1/queue/${model}/requests/${id}`;

  it('goes from IN_QUEUE over IN_PROGRESS to COMPLETED, in the shapes of the contract', async () => {
    says({ state: 'waiting' }, { state: 'shooting' }, { state: 'waiting' }, done());
    const id = await studio.begin({ generate_audio: false });
    const seen: object[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      seen.push(await studio.status(id), await studio.result(id));
      studio.now_ms += POLL_MS;
    }
    const at = (status: string) => [
      { request_id: id, status },
      { request_id: id, status, model: MODEL },
    ];
    expect(seen.slice(0, 6)).to.deep.equal([
      ...at('IN_QUEUE'),
      ...at('IN_PROGRESS'),
      // A runner that failed is started again upstream, which is progress to nobody.
      ...at('IN_PROGRESS'),
    ]);
    expect(seen[6]).to.deep.equal({ request_id: id, status: 'COMPLETED' });
    const { data, ...rest } = seen[7] as { data: { url: string }[] };
    expect(rest).to.deep.equal({
      request_id: id,
      status: 'COMPLETED',
      model: MODEL,
      usage: { video_seconds: 8, video_resolution: '720p', video_has_audio: false },
    });
    expect(data[0]?.url).to.match(
      /^\/v1\/queue\/studio\/film-1\/requests\/[\w-]{16,}\/content\/0$/u,
    );
    expect(data[0]?.url).to.not.contain(id);
  });

  it('fetches the result with a second call where the upstream wants one', async () => {
    says({ state: 'developed' }, done());
    const id = await studio.begin();
    expect((await studio.status(id)).status).to.equal('COMPLETED');
    expect(studio.lab.requests.at(-1)?.path).to.equal('/films/f1/reels');
  });

  it('counts the seconds of all its videos, and charges them', async () => {
    const id = await studio.begin({ sample_count: 3, duration_seconds: 4, resolution: '1080p' });
    const { data, usage } = await studio.result(id);
    expect(data?.map(({ url }) => url.at(-1))).to.deep.equal(['0', '1', '2']);
    expect(usage).to.deep.equal({
      video_seconds: 12,
      video_resolution: '1080p',
      video_has_audio: true,
    });
    expect(await studio.books()).to.deep.include({
      balance: TEN - dollars(3.6),
      held: 0n,
      charges: [-dollars(3.6)],
    });
    const [entry] = (await studio.gateway.store.ledger(studio.account.id, { limit: 9 })).slice(-1);
    expect(entry).to.deep.include({
      reference: id,
      model: MODEL,
      provider: 'lab',
      key_id: studio.key_id,
      estimated: false,
    });
    expect(JSON.parse(entry?.usage ?? '')).to.deep.equal(usage);
  });

  it('is charged for those videos that were made', async () => {
    studio.lab.onPoll = (film) => ({ state: 'done', reels: reelsOf(studio.lab, film).slice(1) });
    const id = await studio.begin({ sample_count: 3, duration_seconds: 1 });
    expect((await studio.result(id)).usage?.video_seconds).to.equal(2);
    expect((await studio.books()).charges).to.deep.equal([-dollars(0.4)]);
  });

  it('is not charged for more videos than were asked for', async () => {
    says({ state: 'done', reels: ['/reels/0', '/reels/1'] });
    const id = await studio.begin({ duration_seconds: 1 });
    expect((await studio.result(id)).data).to.have.length(1);
    expect((await studio.books()).charges).to.deep.equal([-dollars(0.2)]);
  });

  it('is never charged by its status, and asks as seldom as the interval wants', async () => {
    says({ state: 'shooting' });
    const id = await studio.begin();
    const other = await studio.another();
    try {
      for (let round = 0; round < 20; round += 1) {
        const polls = Array.from({ length: 50 }, async (_, at) => {
          const { url, secret } = at % 2 ? studio : other;
          const headers = { authorization: `Bearer ${secret}` };
          const response = await fetch(`${url}${path(id)}/status`, { headers });
          return ((await response.json()) as { status: string }).status;
        });
        const seen = new Set(await Promise.all(polls));
        expect(['IN_QUEUE', 'IN_PROGRESS']).to.include.members([...seen]);
        studio.now_ms += POLL_MS / 4;
      }
    } finally {
      await other.close();
    }
    expect(studio.lab.asked.get('f1')).to.equal(5);
    expect(await studio.books()).to.deep.include({ balance: TEN, held: dollars(1.6), charges: [] });
  });

  it('is polled once for callers that come together', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    studio.lab.onPoll = () => async (response) => {
      await gate;
      response.end(JSON.stringify(done()));
    };
    const id = await studio.begin();
    const asking = Array.from({ length: 20 }, () => studio.status(id));
    await until(() => studio.lab.asked.has('f1'), 'the upstream is asked');
    release();
    const seen = await Promise.all(asking);
    expect(new Set(seen.map(({ status }) => status))).to.deep.equal(new Set(['COMPLETED']));
    expect(studio.lab.asked.get('f1')).to.equal(1);
  });

  it('is charged once, by 50 fetches at once through two gateways', async () => {
    const id = await studio.begin();
    const other = await studio.another();
    try {
      const fetches = Array.from({ length: 50 }, async (_, at) => {
        const { url, secret } = at % 2 ? studio : other;
        const headers = { authorization: `Bearer ${secret}` };
        const response = await fetch(`${url}${path(id)}`, { headers });
        return (await response.json()) as { status: string; data?: { url: string }[] };
      });
      const results = (await Promise.all(fetches)).filter(({ status }) => status === 'COMPLETED');
      results.push({ ...(await studio.result(id)) });
      expect(new Set(results.map(({ data }) => data?.[0]?.url)).size).to.equal(1);
    } finally {
      await other.close();
    }
    expect((await studio.books()).charges).to.deep.equal([-dollars(1.6)]);
  });

  const failures: { what: string; say: Say; error: string }[] = [
    { what: 'says so', say: { state: 'broken', why: 'No light.' }, error: 'No light.' },
    { what: 'tells it by a status', say: answer(422, { why: 'Unsafe.' }), error: 'Unsafe.' },
    {
      what: 'gives no reason',
      say: { state: 'broken', why: '' },
      error: 'The upstream gave no reason.',
    },
    {
      what: 'has nothing to show',
      say: { state: 'done', reels: [] },
      error: 'The upstream finished without a video.',
    },
  ];
  for (const { what, say, error } of failures) {
    it(`is FAILED, and its hold released, where the upstream ${what}`, async () => {
      says(say);
      const id = await studio.begin();
      const head = { request_id: id, status: 'FAILED' };
      expect(await studio.status(id)).to.deep.equal({ ...head, error });
      expect(await studio.books()).to.deep.include({ balance: TEN, held: 0n, charges: [] });
      expect(await studio.result(id)).to.deep.equal({ ...head, model: MODEL, error });
      studio.now_ms += POLL_MS;
      await studio.result(id);
      expect(studio.lab.asked.get('f1')).to.equal(1);
      expect((await studio.books()).charges).to.deep.equal([]);
    });
  }

  it('keeps the good videos where others fail, and fails where all do', async () => {
    const begin = async () => {
      const parameters = { sample_count: 3, duration_seconds: 1 };
      const { text } = await studio.submit({ prompt: 'x', parameters }, 'single');
      return (JSON.parse(text) as { request_id: string }).request_id;
    };
    studio.lab.onPoll = (film, nth) => {
      if (film === 'f2') return { state: 'broken', why: 'Torn.' };
      if (film === 'f1' && nth === 1) return { state: 'shooting' };
      return { state: 'done', reels: [`/reels/${film}`] };
    };
    const id = await begin();
    expect((await studio.status(id, 'single')).status).to.equal('IN_PROGRESS');
    studio.now_ms += POLL_MS;
    const { status, data, usage, error } = await studio.result(id, 'single');
    expect([status, data?.length, usage?.video_seconds, error]).to.deep.equal([
      'COMPLETED',
      2,
      2,
      undefined,
    ]);
    expect([...studio.lab.asked.values()]).to.have.members([1, 1, 2]);
    // The films stand in the order that they were asked for, whichever was done first.
    const reels = [];
    for (const { url } of data ?? []) {
      await studio.get(url);
      reels.push(studio.lab.requests.at(-1)?.path);
    }
    expect(reels).to.have.members(['/reels/f1', '/reels/f3']);
    studio.lab.onPoll = (film) => ({ state: 'broken', why: film === 'f4' ? 'One.' : 'Two.' });
    const failed = await studio.status(await begin(), 'single');
    expect(failed.status).to.equal('FAILED');
    expect(failed.error?.split(' ')).to.have.members(['One.', 'Two.']);
    expect(await studio.books()).to.deep.include({ held: 0n, charges: [-dollars(0.4)] });
  });

  const troubles: { what: string; say: Say }[] = [
    { what: 'breaks', say: answer(500) },
    { what: 'limits', say: answer(429) },
    { what: 'refuses the credentials', say: answer(401) },
    { what: 'redirects', say: answer(302) },
    { what: 'hangs up', say: hangUp() },
    { what: 'mumbles', say: answer(200, 'hm') },
    { what: 'breaks its codec', say: answer(200, 'null') },
  ];
  for (const { what, say } of troubles) {
    it(`keeps its state where the upstream ${what}, and its result says 502`, async () => {
      says({ state: 'shooting' }, say, say, done());
      const id = await studio.begin();
      await studio.status(id);
      studio.now_ms += POLL_MS;
      expect((await studio.status(id)).status).to.equal('IN_PROGRESS');
      studio.now_ms += POLL_MS;
      const result = await studio.get(path(id));
      expect(refused(result).slice(0, 2)).to.deep.equal([502, 'upstream_error']);
      studio.now_ms += POLL_MS;
      expect((await studio.result(id)).status).to.equal('COMPLETED');
    });
  }

  const wrongPaths: {
    what: string;
    path: (id: string, content: string) => string;
    code: string;
  }[] = [
    { what: 'an unknown ID', path: () => path(UNKNOWN), code: 'invalid_request_id' },
    { what: 'no ID at all', path: () => path("'or 1=1--"), code: 'invalid_request_id' },
    { what: 'the content ID', path: (_, id) => path(id), code: 'invalid_request_id' },
    { what: 'its sibling', path: (id) => path(id, 'sibling'), code: 'invalid_request_id' },
    { what: 'a stranger', path: (id) => path(id, 'stranger'), code: 'provider_mismatch' },
    { what: 'no model', path: (id) => path(id, 'nobody'), code: 'model_not_found' },
    {
      what: 'content by the request ID',
      path: (id) => `${path(id)}/content/0`,
      code: 'invalid_request_id',
    },
    {
      what: 'content of an unknown ID',
      path: () => `${path('x'.repeat(32))}/content/0`,
      code: 'invalid_request_id',
    },
    {
      what: 'content of a stranger',
      path: (_, id) => `${path(id, 'stranger')}/content/0`,
      code: 'provider_mismatch',
    },
    ...['1', '-1', '01', '0.5', 'x', '99999999999', '%30x', ' '].map((index) => ({
      what: `the index ${index}`,
      path: (_: string, id: string) => `${path(id)}/content/${encodeURIComponent(index)}`,
      code: 'invalid_content_index',
    })),
  ];
  for (const { what, path: of, code } of wrongPaths) {
    it(`is not found under ${what}`, async () => {
      const id = await studio.begin();
      const { data } = await studio.result(id);
      const content = /requests\/([^/]+)/u.exec(data?.[0]?.url ?? '')?.[1] ?? '';
      const answered = await studio.get(of(id, content));
      expect(refused(answered).slice(0, 2)).to.deep.equal([400, code]);
      const status = `${of(id, content)}/status`;
      if (!status.includes('/content/')) {
        expect(refused(await studio.get(status)).slice(0, 2)).to.deep.equal([400, code]);
      }
    });
  }

  it('is a 404 for other accounts, like a task that does not exist', async () => {
    const id = await studio.begin();
    const { data } = await studio.result(id);
    const { store } = studio.gateway;
    const { secret } = await store.createKey((await store.createAccount('eve', TEN)).id, 'k');
    const { secret: mine } = await store.createKey(studio.account.id, 'second');
    const url = data?.[0]?.url ?? '';
    for (const real of [path(id), `${path(id)}/status`, path(id, 'stranger'), url]) {
      const fake = real.replace(/requests\/[^/]+/u, `requests/${UNKNOWN}`);
      const seen = [];
      for (const at of [real, fake]) {
        const answered = await studio.get(at, { headers: { authorization: `Bearer ${secret}` } });
        const { message, ...rest } = errorOf(answered);
        seen.push([answered.status, message.replaceAll(/"[\w-]{16,}"/gu, 'ID'), rest]);
      }
      expect(seen[0]).to.deep.equal(seen[1]);
      expect((seen[0] as unknown[])[2]).to.deep.include({ code: 'invalid_request_id' });
    }
    const answered = await studio.get(path(id), { headers: { authorization: `Bearer ${mine}` } });
    expect(answered.status).to.equal(200);
    const none = await studio.get(path(id), { headers: { authorization: 'Bearer none' } });
    expect(refused(none)[1]).to.equal('invalid_api_key');
  });

  it('fails when it takes too long, and is forgotten after as long again', async () => {
    says({ state: 'shooting' });
    const id = await studio.begin();
    studio.now_ms += 24 * HOUR_MS - 1;
    expect((await studio.status(id)).status).to.equal('IN_PROGRESS');
    studio.now_ms += 1;
    expect(await studio.status(id)).to.deep.equal({
      request_id: id,
      status: 'FAILED',
      error: 'The task was not finished in time.',
    });
    expect((await studio.books()).held).to.equal(0n);
    studio.now_ms += 24 * HOUR_MS;
    expect(refused(await studio.get(path(id)))[1]).to.equal('invalid_request_id');
  });

  it('ends its hold with its retention where its result is never fetched', async () => {
    const id = await studio.begin();
    expect((await studio.status(id)).status).to.equal('COMPLETED');
    studio.now_ms += 24 * HOUR_MS - 1;
    expect((await studio.books()).held).to.equal(dollars(1.6));
    studio.now_ms += 1;
    expect(refused(await studio.get(path(id)))[1]).to.equal('invalid_request_id');
    expect(await studio.books()).to.deep.include({ balance: TEN, held: 0n, charges: [] });
  });

  it('keeps the price and the provider of its submission', async () => {
    const first = await studio.begin();
    const second = await studio.begin();
    await studio.status(second);
    const dearer = studio.yaml.replaceAll('audio: 0.20', 'audio: 0.90');
    await reload(dearer);
    expect((await studio.result(first)).status).to.equal('COMPLETED');
    expect((await studio.books()).charges).to.deep.equal([-dollars(1.6)]);
    const third = await studio.begin({ duration_seconds: 1 });
    await reload(
      studio.yaml
        .replaceAll(/^ {2}lab: /gmu, '  gone: ')
        .replaceAll('provider: lab', 'provider: gone'),
    );
    expect((await studio.status(third)).status).to.equal('IN_QUEUE');
    expect(refused(await studio.get(path(third)))[0]).to.equal(502);
    expect((await studio.status(second)).status).to.equal('COMPLETED');
    expect(refused(await studio.get(path(second)))[0], 'nothing to sell').to.equal(502);
    const { data } = await studio.result(first);
    expect(refused(await studio.get(data?.[0]?.url ?? ''))[0]).to.equal(502);
    await reload(studio.yaml.replace(`  ${MODEL}:`, '  renamed:'));
    expect((await studio.result(third)).status, 'also without its model').to.equal('COMPLETED');
    expect((await studio.books()).charges).to.have.length(2);
  });

  async function reload(yaml: string): Promise<void> {
    await writeFile(studio.file, `listen: 127.0.0.1:0\nstore: sqlite:tollgate.db\n${yaml}`);
    studio.gateway.reload(await checkOrThrow(studio.file, {}));
  }

  it('costs nothing where its model is free', async () => {
    const { text } = await studio.submit(undefined, 'gift');
    const { request_id } = JSON.parse(text) as { request_id: string };
    expect((await studio.result(request_id, 'gift')).data).to.have.length(1);
    expect(await studio.books()).to.deep.include({ balance: TEN, held: 0n, charges: [] });
  });

  it('ignores query strings, and takes no other methods', async () => {
    const id = await studio.begin();
    expect((await studio.get(`${path(id)}/status?logs=1`)).status).to.equal(200);
    expect((await studio.get(`${path(id)}/cancel`, { method: 'PATCH' })).status).to.equal(405);
    expect((await studio.get(path(id), { method: 'DELETE' })).status).to.equal(405);
  });
});
