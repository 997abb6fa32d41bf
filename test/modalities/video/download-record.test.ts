import { expect } from 'chai';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { until } from '../../helpers/until.js';
import { dollars, startVideoGateway, type VideoGateway } from './helpers/video-gateway.js';
import { REEL } from './helpers/video-upstream.js';

describe('a download of the Videos API that breaks off after its charge', () => {
  let studio: VideoGateway;
  beforeEach(async () => {
    studio = await startVideoGateway();
    studio.lab.onPoll = () => ({ state: 'done', reels: ['/reels/a'] });
  });
  afterEach(() => studio.close());

  /** The cost of the download in its record, once the store has it. */
  async function costInRecord(): Promise<bigint | undefined> {
    const { requests } = studio.gateway.store;
    const find = async () => {
      const all = await requests.page({ account_id: studio.account.id, limit: 10 });
      return all.find(({ endpoint }) => endpoint === 'video-content');
    };
    await until(async () => (await find()) !== undefined, 'the record of the download is there');
    return (await find())?.cost_nano;
  }

  const begin = async (): Promise<[string, { authorization: string }]> => [
    `${studio.url}/v1/videos/video_${await studio.begin()}/content`,
    { authorization: `Bearer ${studio.secret}` },
  ];

  it('has its cost in the record where the upstream cut it', async () => {
    studio.lab.onReel = (_received, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': REEL.length });
      response.write(REEL.subarray(0, 400), () => response.destroy());
    };
    const [url, headers] = await begin();
    const response = await fetch(url, { headers });
    const cut: unknown = await response.arrayBuffer().catch((error: unknown) => error);
    expect(cut).to.be.instanceOf(Error);
    expect((await studio.books()).charges).to.deep.equal([-dollars(1.6)]);
    expect(await costInRecord()).to.equal(dollars(1.6));
  });

  it('has its cost in the record where the client left', async () => {
    studio.lab.onReel = (_received, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': REEL.length });
      response.write(REEL.subarray(0, 400));
    };
    const [url, headers] = await begin();
    const call = request(url, { headers, agent: false }).end();
    const [message] = (await once(call, 'response')) as [IncomingMessage];
    await once(message, 'data');
    call.destroy();
    expect(await costInRecord()).to.equal(dollars(1.6));
    expect((await studio.books()).charges).to.deep.equal([-dollars(1.6)]);
  });
});
