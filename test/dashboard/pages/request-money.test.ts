import { expect } from 'chai';
import { ask } from '../../helpers/ask.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { eventually } from '../../helpers/cli.js';

const PATH = '/v1/queue/google/veo-3.1';
/** Eight seconds with sound, by default. */
const VIDEO = { prompt: 'A film' };

describe('the page of a request whose money a video task has', () => {
  let dashboard: TestDashboard;
  let cookie: string;
  /** Of a video that was fetched. */
  let submission = '';
  let result = '';

  before(async () => {
    dashboard = await startDashboard({ credit: '5' });
    cookie = `session=${await dashboard.signIn(dashboard.account.id)}`;
  });
  after(() => dashboard.close());

  /** The text of the page, once the record is written. */
  async function pageOf(id: string): Promise<string> {
    const open = () => fetch(`${dashboard.url}/requests/${id}`, { headers: { cookie } });
    await eventually('its record is there', async () => (await open()).status === 200);
    const html = await (await open()).text();
    return html.replaceAll(/<[^>]+>/gu, ' ').replaceAll(/\s+/gu, ' ');
  }

  const refund = (request_id: string) =>
    dashboard.gateway.store.refund({ request_id, amount_nano: 300_000_000n });

  it('does not say "released, or none" while the hold is open, and shows price and refund', async () => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(VIDEO),
    };
    const submitted = await ask(dashboard, PATH, init);
    const { request_id: id } = JSON.parse(submitted.text) as { request_id: string };
    const pending = await pageOf(id);
    expect(pending).to.include('$3.20, moved to the task');
    expect(pending).to.include('It is charged when the result is fetched.');
    expect(pending).not.to.include('Nothing was charged').and.not.include('nothing charged');

    let fetched = '';
    await eventually('the video is done', async () => {
      const answer = await ask(dashboard, `${PATH}/requests/${id}`);
      fetched = answer.headers.get('x-request-id') ?? '';
      return answer.text.includes('"data"');
    });
    const done = await pageOf(id);
    expect(done).to.include('$3.20 was charged when the result was fetched.');
    expect(await pageOf(fetched)).to.include('× $0.40 a second');
    await refund(id);
    const refunded = await pageOf(fetched);
    expect(refunded).to.match(/Refunded\s+−\$0\.30\s+Spent after refunds\s+\$2\.90/u);
    expect(refunded).to.include('$0.30 of it refunded');
    expect(refunded).to.match(new RegExp(`Submission\\s+${id}`, 'u'));
    [submission, result] = [id, fetched];
  });

  it('is not "no such charge" without a word of the submission, on the refund page or in the API', async () => {
    const { url, account } = dashboard;
    const operator = `session=${await dashboard.signIn(account.id, true)}`;
    const headers = { cookie: operator, origin: url, 'content-type': 'application/json' };
    const page = await fetch(`${url}/operator/accounts/${account.id}/refund/${result}`, {
      headers,
    });
    const answer = await fetch(`${url}/api/accounts/${account.id}/refunds`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ request_id: result }),
    });
    for (const refused of [page, answer]) {
      expect(refused.status).to.equal(404);
      expect(await refused.text()).to.include(`that of its submission, ${submission}: refund that`);
    }
  });
});
