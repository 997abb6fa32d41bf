import { expect } from 'chai';
import type { RequestRecord } from '../../../src/core/request-record.js';
import { ask } from '../../helpers/ask.js';
import { until } from '../../helpers/until.js';
import { onEachStore } from '../../store/helpers/ground.js';
import { dollars, MODEL, startVideoGateway, type VideoGateway } from './helpers/video-gateway.js';
import { REEL } from './helpers/video-upstream.js';

/** Four seconds. */
const PRICE = dollars(0.8);

onEachStore("an OpenAI client's video", (ground) => {
  let studio: VideoGateway;
  beforeEach(async () => {
    studio = await startVideoGateway({ store: JSON.stringify(ground.place.url) });
  });
  afterEach(() => studio.close());

  async function create(): Promise<string> {
    const { text } = await ask(studio, '/v1/videos', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, prompt: 'a cat' }),
    });
    return (JSON.parse(text) as { id: string }).id;
  }

  it('is charged once by 20 downloads at once through two gateways', async () => {
    const id = await create();
    await studio.get(`/v1/videos/${id}`);
    const other = await studio.another();
    try {
      const downloads = Array.from({ length: 20 }, async (_, at) => {
        const { url, secret } = at % 2 ? studio : other;
        const headers = { authorization: `Bearer ${secret}` };
        const response = await fetch(`${url}/v1/videos/${id}/content`, { headers });
        return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
      });
      for (const { status, bytes } of await Promise.all(downloads)) {
        expect(status).to.equal(200);
        expect(bytes.equals(REEL)).to.equal(true);
      }
    } finally {
      await other.close();
    }
    const { charges, held, balance, faults } = await studio.books();
    expect({ charges, held, balance, faults }).to.deep.equal({
      charges: [-PRICE],
      held: 0n,
      balance: dollars(10) - PRICE,
      faults: [],
    });
  });

  it('was recorded without its seconds', async () => {
    const id = await create();
    await studio.get(`/v1/videos/${id}`);
    for (let download = 0; download < 2; download += 1) {
      await studio.get(`/v1/videos/${id}/content`);
    }
    const { requests } = studio.gateway.store;
    let records: RequestRecord[] = [];
    await until(async () => {
      const page = await requests.page({ limit: 10 });
      records = page.filter(({ endpoint }) => endpoint === 'video-content');
      return records.length === 2;
    }, 'both downloads are recorded');
    const shown = records.map(({ cost_nano, units }) => [cost_nano, units]);
    expect(shown).to.have.deep.members([
      [0n, null],
      [PRICE, { video_seconds: 4 }],
    ]);
  });

  it('is charged once by downloads and results at once', async () => {
    const id = await create();
    await studio.get(`/v1/videos/${id}`);
    const task = `/v1/queue/${MODEL}/requests/${id.replace('video_', '')}`;
    const paths = [task, `/v1/videos/${id}/content`, `/openai/v1/videos/${id}/content`];
    const got = await Promise.all(
      Array.from({ length: 21 }, (_, at) => studio.get(paths[at % 3] ?? '')),
    );
    expect(got.map(({ status }) => status)).to.deep.equal(got.map(() => 200));
    const { charges, held, faults } = await studio.books();
    expect({ charges, held, faults }).to.deep.equal({ charges: [-PRICE], held: 0n, faults: [] });
  });

  it('is listed and deleted', async () => {
    const ids = [await create(), await create()].toSorted();
    const [first = '', second = ''] = ids;
    await studio.get(`/v1/videos/${second}/content`);
    const list = async () => {
      const { text } = await studio.get('/v1/videos?order=asc&limit=5');
      return (JSON.parse(text) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    expect(await list()).to.deep.equal(ids);
    const { status } = await studio.get(`/v1/videos/${second}`, { method: 'DELETE' });
    expect(status).to.equal(200);
    expect(await list()).to.deep.equal([first]);
  });
});
