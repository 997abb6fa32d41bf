import { expect } from 'chai';
import { ask, type Answer } from '../../helpers/ask.js';
import { expectShape } from '../../helpers/schemas.js';
import { answer, hangUp } from './helpers/video-upstream.js';
import { dollars, MODEL, startVideoGateway, type VideoGateway } from './helpers/video-gateway.js';

const CREDIT = dollars(20);
const REQUESTED = { status: 'CANCELLATION_REQUESTED' };
const ONE = { duration_seconds: 1 };

/** Opens once, for all who wait to pass. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open: () => open() };
}

describe('the cancellation of a video task', () => {
  let studio: VideoGateway;
  beforeEach(async () => {
    studio = await startVideoGateway({ credit: '20' });
    studio.lab.onPoll = () => ({ state: 'waiting' });
  });
  afterEach(async () => {
    expect((await studio.books()).faults).to.deep.equal([]);
    await studio.close();
  });

  const cancel = (id: string, model = MODEL): Promise<Answer> =>
    studio.get(`/v1/queue/${model}/requests/${id}/cancel`, { method: 'PUT' });
  const told = () => studio.lab.requests.filter(({ path }) => path.endsWith('/cancel'));

  async function expectTooLate(id: string): Promise<void> {
    const { status, text } = await cancel(id);
    expect(status, text).to.equal(400);
    const body = JSON.parse(text) as { status: string; error: { code: string; message: string } };
    expect(body.status).to.equal('ALREADY_COMPLETED');
    expect(body.error).to.include({ code: 'too_late_to_cancel', type: 'invalid_request_error' });
  }

  it('ends a task that waits, and releases its hold', async () => {
    const id = await studio.begin(ONE);
    expect((await studio.books()).held).to.equal(dollars(0.2));
    const { status, text } = await cancel(id);
    expect(status, text).to.equal(202);
    expect(JSON.parse(text)).to.deep.equal(REQUESTED);
    expectShape('video-cancellation', JSON.parse(text));
    expect(told()).to.have.length(1);
    const books = { balance: CREDIT, held: 0n, charges: [], faults: [] };
    expect(await studio.books()).to.deep.equal(books);
    expect(await studio.status(id)).to.include({
      status: 'FAILED',
      error: 'The task was cancelled.',
    });
  });

  it('is never charged, though its upstream makes the video all the same', async () => {
    const id = await studio.begin(ONE);
    await cancel(id);
    studio.lab.onPoll = (film) => ({ state: 'done', reels: [`/reels/${film}`] });
    studio.now_ms += 60_000;
    for (let time = 0; time < 3; time += 1) {
      expect((await studio.result(id)).status).to.equal('FAILED');
    }
    expect(await studio.books()).to.include({ balance: CREDIT, held: 0n });
  });

  it('is refused once the video is being made, and the task goes on', async () => {
    const id = await studio.begin(ONE);
    studio.lab.onPoll = () => ({ state: 'shooting' });
    await expectTooLate(id);
    expect(told()).to.deep.equal([]);
    studio.lab.onPoll = (film) => ({ state: 'done', reels: [`/reels/${film}`] });
    studio.now_ms += 2_000;
    await expectTooLate(id);
    expect((await studio.result(id)).status).to.equal('COMPLETED');
    await expectTooLate(id);
    expect((await studio.books()).charges).to.deep.equal([-dollars(0.2)]);
  });

  it('is refused a second time', async () => {
    const id = await studio.begin(ONE);
    expect((await cancel(id)).status).to.equal(202);
    await expectTooLate(id);
  });

  it('ends the task once, however many ask for it at once', async () => {
    const id = await studio.begin(ONE);
    const answers = await Promise.all(Array.from({ length: 5 }, () => cancel(id)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).to.deep.equal([202, 400, 400, 400, 400]);
    expect(await studio.books()).to.include({ balance: CREDIT, held: 0n });
  });

  it('charges once where the video is fetched while the upstream is told', async () => {
    const id = await studio.begin(ONE);
    const reached = gate();
    const release = gate();
    studio.lab.onCancel = () => async (response) => {
      reached.open();
      await release.passed;
      response.end('{}');
    };
    const cancelling = cancel(id);
    await reached.passed;
    studio.lab.onPoll = (film) => ({ state: 'done', reels: [`/reels/${film}`] });
    studio.now_ms += 2_000;
    expect((await studio.result(id)).status).to.equal('COMPLETED');
    release.open();
    expect((await cancelling).status).to.equal(400);
    expect((await studio.result(id)).data).to.have.length(1);
    expect(await studio.books()).to.deep.include({ held: 0n, charges: [-dollars(0.2)] });
  });

  it('stands although a poll that began before it brings the video', async () => {
    const id = await studio.begin(ONE);
    expect((await studio.status(id)).status).to.equal('IN_QUEUE');
    const reached = gate();
    const release = gate();
    studio.lab.onPoll = (film) => async (response) => {
      reached.open();
      await release.passed;
      response.end(JSON.stringify({ state: 'done', reels: [`/reels/${film}`] }));
    };
    const other = await studio.another();
    try {
      studio.now_ms += 2_000;
      const polling = studio.result(id);
      await reached.passed;
      const path = `/v1/queue/${MODEL}/requests/${id}/cancel`;
      expect((await ask(other, path, { method: 'PUT' })).status).to.equal(202);
      release.open();
      expect((await polling).status).to.equal('FAILED');
      expect(await studio.books()).to.deep.include({ balance: CREDIT, held: 0n, charges: [] });
    } finally {
      await other.close();
    }
  });

  it('is refused where the upstream will not drop the task', async () => {
    const id = await studio.begin(ONE);
    studio.lab.onCancel = () => answer(409, { why: 'The camera runs.' });
    await expectTooLate(id);
    expect((await studio.status(id)).status).to.equal('IN_QUEUE');
    expect((await studio.books()).held).to.equal(dollars(0.2));
  });

  it('is 502 where the upstream cannot be told, and the hold stays', async () => {
    const id = await studio.begin(ONE);
    for (const say of [hangUp(), answer(503, 'away')]) {
      studio.lab.onCancel = () => say;
      expect((await cancel(id)).status).to.equal(502);
    }
    expect((await studio.books()).held).to.equal(dollars(0.2));
    studio.lab.onCancel = () => ({});
    expect((await cancel(id)).status).to.equal(202);
  });

  it('of a part leaves the rest to be made and charged', async () => {
    const body = { prompt: 'a cat', parameters: { ...ONE, sample_count: 2 } };
    const { text } = await studio.submit(body, 'single');
    const { request_id: id } = JSON.parse(text) as { request_id: string };
    studio.lab.onCancel = (film) => (film === 'f1' ? {} : answer(409));
    const { status } = await cancel(id, 'single');
    expect(status).to.equal(400);
    studio.lab.onPoll = (film) => ({ state: 'done', reels: [`/reels/${film}`] });
    studio.now_ms += 2_000;
    const { data, usage } = await studio.result(id, 'single');
    expect(data).to.have.length(1);
    expect(usage?.video_seconds).to.equal(1);
    expect(await studio.books()).to.deep.include({ held: 0n, charges: [-dollars(0.2)] });
  });

  it("of another account's task is as that of a task that does not exist", async () => {
    const id = await studio.begin(ONE);
    const { store } = studio.gateway;
    const other = await store.createAccount('other', CREDIT);
    const { secret } = await store.createKey(other.id, 'k');
    const asked = async (who: string, of: string) => {
      const path = `/v1/queue/${MODEL}/requests/${of}/cancel`;
      const headers = { authorization: `Key ${who}` };
      const answered = await fetch(studio.url + path, { method: 'PUT', headers });
      const { error } = (await answered.json()) as { error?: { code: string } };
      return [answered.status, error?.code];
    };
    expect(await asked(secret, id)).to.deep.equal([400, 'invalid_request_id']);
    expect(await asked(studio.secret, 'nothing')).to.deep.equal([400, 'invalid_request_id']);
    expect(await asked('tg-not-a-key', id)).to.deep.equal([401, 'invalid_api_key']);
    expect(await asked(studio.secret, id)).to.deep.equal([202, undefined]);
  });

  it('works in the simulator until it begins', async () => {
    const providers = '  slow: { uses: simulator, settings: { video_takes: 1h } }';
    const models =
      '  film: { owner: studio, capabilities: [video], upstreams: [{ provider: slow }], ' +
      'price: { per_video_second: 0.1 } }';
    const other = await startVideoGateway({ providers, models });
    try {
      const { text } = await other.submit({ prompt: 'a cat' }, 'film');
      const { request_id } = JSON.parse(text) as { request_id: string };
      const path = `/v1/queue/film/requests/${request_id}/cancel`;
      expect((await other.get(path, { method: 'PUT' })).status).to.equal(202);
      expect((await other.books()).held).to.equal(0n);
    } finally {
      await other.close();
    }
  });
});
