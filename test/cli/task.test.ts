import { expect } from 'chai';
import { run } from '../money/helpers/gateway-process.js';
import {
  MODEL,
  START_MS,
  startVideoGateway,
  type VideoGateway,
} from '../modalities/video/helpers/video-gateway.js';

describe('tollgate task', () => {
  let studio: VideoGateway;
  before(async () => {
    studio = await startVideoGateway();
  });
  after(() => studio.close());

  const task = async (...args: string[]) => {
    const { code, output } = await run(['task', ...args, '--config', studio.file]);
    return { code, output };
  };

  it('reports an empty list', async () => {
    expect(await task('list')).to.deep.equal({ code: 0, output: 'There is no task.\n' });
    expect(await task('list', '--json')).to.deep.equal({ code: 0, output: '[]\n' });
  });

  it('lists tasks with their state, upstream, hold and charge', async () => {
    const first = await studio.begin();
    await studio.result(first);
    studio.now_ms += 1_000;
    const second = await studio.begin({ duration_seconds: 2 });
    const { code, output } = await task('list', '--json', '--account', 'tester');
    expect(code).to.equal(0);
    const known = { model: MODEL, provider: 'lab', account: studio.account.id, error: null };
    expect(JSON.parse(output)).to.deep.equal([
      {
        ...known,
        id: second,
        status: 'IN_QUEUE',
        hold: '0.40',
        charge: null,
        created: new Date(START_MS + 1_000).toISOString(),
      },
      {
        ...known,
        id: first,
        status: 'COMPLETED',
        hold: '0.00',
        charge: '1.60',
        created: new Date(START_MS).toISOString(),
      },
    ]);
    const { output: table } = await task('list', '--limit', '1');
    expect(table).to.contain(second).and.not.contain(first);
    expect(table).to.contain(' tester ').and.not.contain(studio.account.id);
  });

  it('shows all that is known of one, by either of its IDs', async () => {
    const id = await studio.begin({ duration_seconds: 1 });
    const { data } = await studio.result(id);
    const content_id = /requests\/([^/]+)/u.exec(data?.[0]?.url ?? '')?.[1] ?? '';
    // One that began with a dash was taken for an option.
    expect(content_id).to.match(/^vid_[\w-]{32}$/u);
    for (const name of [id, content_id]) {
      const { code, output } = await task('show', name, '--json');
      expect(code).to.equal(0);
      expect(JSON.parse(output)).to.deep.include({
        id,
        content_id,
        status: 'COMPLETED',
        upstream_model: 'film-one',
        price: '0.20',
        charge: '0.20',
        videos: 1,
        key: studio.key_id,
      });
      expect(output).to.not.contain('a cat');
    }
    const { output } = await task('show', id);
    expect(output)
      .to.match(/^status +COMPLETED$/mu)
      .and.match(/^jobs +\[\{"count":1,/mu);
  });

  it('fails for an unknown task', async () => {
    expect((await task('show', 'none')).code).to.equal(1);
    expect((await task('list', '--account', 'none')).code).to.equal(1);
    expect((await task('list', '--limit', '0')).code).to.equal(1);
  });
});
