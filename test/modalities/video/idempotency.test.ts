import { expect } from 'chai';
import type { Answer } from '../../helpers/ask.js';
import { until } from '../../helpers/until.js';
import { expectSame, refused } from '../../money/helpers/idempotent-request.js';
import { onEachStore } from '../../store/helpers/ground.js';
import { answer, type Say } from './helpers/video-upstream.js';
import {
  dollars,
  startVideoGateway,
  type VideoGateway,
  type TaskBody,
} from './helpers/video-gateway.js';

const COST = dollars(0.2);
const BODY = { prompt: 'a cat', parameters: { duration_seconds: 1 } };

onEachStore('an idempotent video submission', (ground) => {
  let studio: VideoGateway;
  beforeEach(async () => {
    studio = await startVideoGateway({ store: JSON.stringify(ground.place.url) });
  });
  afterEach(async () => {
    try {
      expect((await studio.books()).faults).to.deep.equal([]);
    } finally {
      await studio.close();
    }
  });

  const submit = (key = 'k', body: object = BODY, model?: string): Promise<Answer> =>
    studio.submit(body, model, { 'idempotency-key': key });
  const idOf = ({ status, text }: Answer): string => {
    expect(status, text).to.equal(202);
    return (JSON.parse(text) as TaskBody).request_id;
  };
  const tasks = () => studio.gateway.store.tasks.list({ limit: 10 });

  it('returns its first task, whatever has become of that task', async () => {
    const first = await submit();
    expectSame(await submit(), first);
    const id = idOf(first);
    studio.now_ms += 2_000;
    expect((await studio.result(id)).status).to.equal('COMPLETED');
    expectSame(await submit(), first);
    expect((await studio.result(id)).status).to.equal('COMPLETED');
    expect(studio.lab.films).to.have.length(1);
    expect((await studio.books()).charges).to.deep.equal([-COST]);
    expect(await tasks()).to.have.length(1);
  });

  it('is refused with another body, and at another model', async () => {
    await submit();
    const reused = [400, 'idempotency_key_reused'];
    expect(refused(await submit('k', { ...BODY, prompt: 'a dog' }))).to.deep.equal(reused);
    expect(refused(await submit('k', BODY, 'sibling'))).to.deep.equal(reused);
    expect(studio.lab.films).to.have.length(1);
  });

  it('makes one task of many requests at once', async () => {
    let take = (): void => undefined;
    const taken = new Promise<void>((resolve) => (take = resolve));
    const say: Say = async (response) => {
      await taken;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ film: 'f1' }));
    };
    studio.lab.onSubmit = () => say;
    let refusals = 0;
    const calls = Array.from({ length: 50 }, async () => {
      const one = await submit();
      if (one.status === 409) refusals += 1;
      return one;
    });
    await until(() => studio.lab.films.length + refusals === 50, 'all but one are refused');
    take();
    const [first] = (await Promise.all(calls)).filter(({ status }) => status === 202);
    if (!first) throw new Error('None was taken.');
    expectSame(await submit(), first);
    expect(await tasks()).to.have.length(1);
  });

  it('is a new task where no upstream took it', async () => {
    studio.lab.onSubmit = (nth) => (nth === 1 ? answer(500) : undefined);
    expect(refused(await submit())).to.deep.equal([502, 'upstream_error']);
    const first = await submit();
    expectSame(await submit(), first);
    expect((await tasks()).map(({ status }) => status)).to.have.members(['FAILED', 'IN_QUEUE']);
  });

  it('returns its first task where the model is free', async () => {
    const first = await submit('k', BODY, 'gift');
    expectSame(await submit('k', BODY, 'gift'), first);
    expect(await tasks()).to.have.length(1);
  });

  for (const how of ['before', 'after'] as const) {
    it(`is a new task where the first one failed ${how} its acceptance was written`, async () => {
      const { tasks: books } = studio.gateway.store;
      const accept = books.accept.bind(books);
      books.accept = async (...all) => {
        books.accept = accept;
        if (how === 'after') await accept(...all);
        throw new Error('The disk is on fire.');
      };
      expect(refused(await submit())).to.deep.equal([500, 'internal_error']);
      const first = await submit();
      expectSame(await submit(), first);
      studio.now_ms += 2_000;
      expect((await studio.result(idOf(first))).status).to.equal('COMPLETED');
      expect((await tasks()).map(({ status }) => status)).to.have.members(['FAILED', 'COMPLETED']);
      const { charges, held } = await studio.books();
      expect({ charges, held }).to.deep.equal({ charges: [-COST], held: 0n });
    });
  }

  it('returns the same task through another process on the same store', async () => {
    const other = await studio.another();
    try {
      const first = await submit();
      const { url, secret } = other;
      const again = await fetch(`${url}/v1/queue/studio/film-1`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'idempotency-key': 'k',
        },
        body: JSON.stringify(BODY),
      });
      const { status, headers } = again;
      expectSame({ status, headers, text: await again.text() }, first);
    } finally {
      await other.close();
    }
  });
});
