import { createFalClient, type FalClient } from '@fal-ai/client';
import { expect } from 'chai';
import { until } from '../helpers/until.js';
import {
  MODEL,
  startVideoGateway,
  type VideoGateway,
} from '../modalities/video/helpers/video-gateway.js';

/** What the client's types say of a model that they do not know. */
interface Result {
  status: string;
  data: { url: string }[];
}

describe('the @fal-ai/client package', () => {
  let gateway: VideoGateway;
  let fal: FalClient;
  beforeEach(async () => {
    gateway = await startVideoGateway();
    fal = createFalClient({
      credentials: gateway.secret,
      requestMiddleware: async (config) => {
        const { pathname, search } = new URL(config.url);
        return { ...config, url: `${gateway.url}/v1/queue${pathname}${search}` };
      },
    });
  });
  afterEach(() => gateway.close());

  const input = { prompt: 'a cat', parameters: { duration_seconds: 2 } };

  it('submits, asks for the status and fetches the result', async () => {
    gateway.lab.onPoll = (film, nth) =>
      nth === 1 ? { state: 'shooting' } : { state: 'done', reels: [`/reels/${film}`] };
    const submitted = await fal.queue.submit(MODEL, { input });
    expect(submitted.status).to.equal('IN_QUEUE');
    const requestId = submitted.request_id;
    expect((await fal.queue.status(MODEL, { requestId })).status).to.equal('IN_PROGRESS');
    gateway.now_ms += 2_000;
    expect((await fal.queue.status(MODEL, { requestId })).status).to.equal('COMPLETED');
    const { data: result } = await fal.queue.result(MODEL, { requestId });
    const { data, status } = result as unknown as Result;
    expect(status).to.equal('COMPLETED');
    expect((await gateway.get(data[0]?.url ?? '')).status).to.equal(200);
    expect((await gateway.books()).charges).to.have.length(1);
  });

  it('polls until the result is there', async () => {
    gateway.lab.onPoll = (film, nth) => {
      gateway.now_ms += 2_000;
      return nth < 3 ? { state: 'shooting' } : { state: 'done', reels: [`/reels/${film}`] };
    };
    const seen: string[] = [];
    const { data: result } = await fal.subscribe(MODEL, {
      input,
      pollInterval: 10,
      onQueueUpdate: ({ status }) => {
        gateway.now_ms += 2_000;
        seen.push(status);
      },
    });
    expect((result as unknown as Result).status).to.equal('COMPLETED');
    expect(seen.at(-1)).to.equal('COMPLETED');
  });

  it('cancels what has not begun, and hears that the rest cannot be', async () => {
    gateway.lab.onPoll = () => ({ state: 'waiting' });
    const { request_id: requestId } = await fal.queue.submit(MODEL, { input });
    await fal.queue.cancel(MODEL, { requestId });
    expect(await gateway.books()).to.deep.include({ held: 0n, charges: [] });
    const again: unknown = await fal.queue.cancel(MODEL, { requestId }).catch((e: unknown) => e);
    expect(again).to.have.property('status', 400);
    expect(again).to.have.nested.property('body.status', 'ALREADY_COMPLETED');
  });

  it('cancels by itself what takes longer than its caller waits', async () => {
    gateway.lab.onPoll = () => ({ state: 'waiting' });
    const waiting = fal.subscribe(MODEL, { input, timeout: 20, pollInterval: 1_000 });
    const error: unknown = await waiting.catch((thrown: unknown) => thrown);
    expect(error)
      .to.have.property('message')
      .that.matches(/timed out/u);
    await until(async () => (await gateway.books()).held === 0n, 'the hold is released');
    expect((await gateway.books()).charges).to.deep.equal([]);
  });

  it('hears why a submission was refused', async () => {
    let status: unknown;
    try {
      await fal.queue.submit(MODEL, { input: { prompt: '' } });
    } catch (error) {
      ({ status } = error as { status: unknown });
    }
    expect(status).to.equal(400);
  });
});
