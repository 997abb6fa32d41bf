import { expect } from 'chai';
import { dollars, MODEL, startVideoGateway, type VideoGateway } from './helpers/video-gateway.js';

describe('a HEAD request for the result of a video task', () => {
  let studio: VideoGateway;
  beforeEach(async () => {
    studio = await startVideoGateway();
  });
  afterEach(async () => {
    expect((await studio.books()).faults).to.deep.equal([]);
    await studio.close();
  });

  it('is not charged for a result that its client does not get', async () => {
    studio.lab.onPoll = () => ({ state: 'done', reels: ['/reels/0'] });
    const id = await studio.begin();
    const head = () => studio.get(`/v1/queue/${MODEL}/requests/${id}`, { method: 'HEAD' });
    const { status, text, headers } = await head();
    expect([status, text, headers.get('tollgate-cost')]).to.deep.equal([200, '', '0.00']);
    expect(await studio.books()).to.deep.include({ held: dollars(1.6), charges: [] });
    expect((await studio.result(id)).data).to.have.length(1);
    expect((await head()).status).to.equal(200);
    expect(await studio.books()).to.deep.include({ held: 0n, charges: [-dollars(1.6)] });
  });
});
