import { expect } from 'chai';
import { ask } from '../../helpers/ask.js';
import {
  dollars,
  MODEL,
  refused,
  startVideoGateway,
  type VideoGateway,
} from './helpers/video-gateway.js';

describe('a video task and a key that may not use its model', () => {
  let studio: VideoGateway;
  let id: string;
  let narrow: string;
  before(async () => {
    studio = await startVideoGateway();
    const { store } = studio.gateway;
    const terms = { models: ['sibling'] };
    narrow = (await store.createKey(studio.account.id, 'narrow', terms)).secret;
    id = await studio.begin();
  });
  after(() => studio.close());

  const as = (secret: string, path: string) => ask({ ...studio, secret }, path);
  const requests = (): number => studio.lab.requests.length;

  for (const [what, suffix] of [
    ['status', '/status'],
    ['result', ''],
  ]) {
    it(`does not give its ${what}, ask the upstream or charge`, async () => {
      const asked = requests();
      const answer = await as(narrow, `/v1/queue/${MODEL}/requests/${id}${suffix}`);
      expect(refused(answer)).to.deep.equal([400, 'model_not_allowed', 'model']);
      expect(requests()).to.equal(asked);
      const { charges, held, faults } = await studio.books();
      expect({ charges, held, faults }).to.deep.equal({
        charges: [],
        held: dollars(1.6),
        faults: [],
      });
    });
  }

  it('answers the same for a task that does not exist', async () => {
    const answer = await as(narrow, `/v1/queue/${MODEL}/requests/req_nobody`);
    expect(refused(answer)).to.deep.equal([400, 'model_not_allowed', 'model']);
  });

  it('still says of an unknown model that there is none', async () => {
    const answer = await as(narrow, `/v1/queue/nobody/requests/${id}`);
    expect(refused(answer)).to.deep.equal([400, 'model_not_found', 'model']);
  });

  it('does not give its content either', async () => {
    const { data } = await studio.result(id);
    const url = data?.[0]?.url ?? '';
    const asked = requests();
    expect(refused(await as(narrow, url))).to.deep.equal([400, 'model_not_allowed', 'model']);
    expect(requests()).to.equal(asked);
  });

  it('charges the key that submitted it, whichever key of the account fetches it', async () => {
    const { store } = studio.gateway;
    const terms = { limit_nano: dollars(0.01) };
    const other = await store.createKey(studio.account.id, 'other', terms);
    const task = await studio.begin();
    const { status, text } = await as(other.secret, `/v1/queue/${MODEL}/requests/${task}`);
    expect(status, text).to.equal(200);
    expect(text).to.include('COMPLETED');
    const rows = await store.ledger(studio.account.id, { limit: 10 });
    const row = rows.find(({ reference }) => reference === task);
    expect(row?.amount_nano).to.equal(-dollars(1.6));
    const keys = await store.keys(studio.account.id);
    expect(keys.find(({ name }) => name === 'other')?.spent_nano).to.equal(0n);
    expect((await studio.books()).faults).to.deep.equal([]);
  });
});
