import { expect } from 'chai';
import { hostname } from 'node:os';
import { createPollClient } from '../../../src/upstream/poll-client.js';
import { createNetwork } from '../../../src/upstream/network.js';
import { play, providerAt, startUpstream, type FakeUpstream } from '../../helpers/upstream.js';
import { REEL } from './helpers/video-upstream.js';
import { refused, startVideoGateway, type VideoGateway } from './helpers/video-gateway.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';

/** What only the gateway can reach: nobody chose it in the file. */
describe('a private address named by a video upstream', () => {
  let inside: FakeUpstream;
  let studio: VideoGateway;
  beforeEach(async () => {
    inside = await startUpstream({ headers: { 'content-type': 'video/mp4' }, body: REEL });
    studio = await startVideoGateway();
  });
  afterEach(async () => {
    await studio.close();
    await inside.close();
  });

  async function videoAt(place: string) {
    studio.lab.onPoll = () => ({ state: 'done', reels: [place] });
    const { data } = await studio.result(await studio.begin({ duration_seconds: 1 }));
    return studio.get(data?.[0]?.url ?? '');
  }

  it('is not shown to the customer as a video, by address or by name', async () => {
    for (const url of [inside.url, inside.url.replace('127.0.0.1', 'localhost')]) {
      expect(refused(await videoAt(`${url}/secret`)).slice(0, 2)).to.deep.equal([
        502,
        'upstream_error',
      ]);
    }
    expect(inside.sockets).to.equal(0);
  });

  it('is not shown to the customer after a redirect', async () => {
    studio.lab.onReel = (_, response) =>
      play({ status: 302, headers: { location: `${inside.url}/secret` } }, response);
    expect((await videoAt('/reels/a')).status).to.equal(502);
    expect(inside.sockets).to.equal(0);
  });

  it('is not asked about a task, by address or by name', async () => {
    const network = createNetwork({ connections: 1, idle_ms: 30_000 });
    const control = createPollClient(network);
    const provider = providerAt('http://127.0.0.1:9');
    const urls = ['127.0.0.1', 'localhost', hostname()].map((host) =>
      inside.url.replace('127.0.0.1', host),
    );
    try {
      for (const url of urls) {
        const request = { method: 'GET', path: `${url}/x`, headers: {}, body: undefined } as const;
        const asking = control.ask(provider, request, 1_000);
        const error: unknown = await asking.catch((reason: unknown) => reason);
        expect(error, url).to.be.instanceOf(UpstreamError);
      }
    } finally {
      control.close();
      await network.close();
    }
    expect(inside.sockets).to.equal(0);
  });
});
