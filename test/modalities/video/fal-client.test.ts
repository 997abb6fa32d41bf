import { createFalClient, type FalClient } from '@fal-ai/client';
import { expect } from 'chai';
import { MODEL, startVideoGateway, type VideoGateway } from './helpers/video-gateway.js';

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
        const headers = { ...config.headers, Authorization: `Bearer ${gateway.secret}` };
        return { ...config, url: `${gateway.url}/v1/queue${pathname}${search}`, headers };
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
