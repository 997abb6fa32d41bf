import { expect } from 'chai';
import { onEachStore } from '../../store/helpers/ground.js';
import { refused, startVideoGateway, type VideoGateway } from './helpers/video-gateway.js';

onEachStore('the NUL character, which PostgreSQL refuses,', (ground) => {
  let gateway: VideoGateway;
  beforeEach(async () => {
    gateway = await startVideoGateway({ store: ground.place.url });
  });
  afterEach(() => gateway.close());

  it('is a 400 in the path of a task, and a 404 in that of an image', async () => {
    const request = '/v1/queue/studio/film-1/requests';
    for (const path of ['%00/status', '%00', 'a%00b', '%00/content/0']) {
      const answer = refused(await gateway.get(`${request}/${path}`));
      expect(answer, path).to.deep.equal([400, 'invalid_request_id', 'requestID']);
    }
    const model = refused(await gateway.get('/v1/queue/a%00b/requests/x/status'));
    expect(model.slice(0, 2)).to.deep.equal([400, 'model_not_found']);
    expect(refused(await gateway.get('/images/%00')).slice(0, 2)).to.deep.equal([404, 'not_found']);
  });

  it('in the words of an upstream does not keep a task from its end', async () => {
    const id = await gateway.begin();
    gateway.lab.onPoll = () => ({ state: 'broken', why: 'No\0 \ud800film.' });
    const { status, error } = await gateway.result(id);
    expect({ status, error }).to.deep.equal({ status: 'FAILED', error: 'No\uFFFD \uFFFDfilm.' });
    expect((await gateway.books()).held).to.equal(0n);
  });

  it('in what a client sends is taken like any other', async () => {
    const answer = await gateway.submit({
      prompt: 'a\0cat',
      parameters: { negative_prompt: '\0' },
    });
    expect(answer.status).to.equal(202);
  });
});
