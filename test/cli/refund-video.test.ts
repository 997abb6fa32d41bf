import { expect } from 'chai';
import { ask } from '../helpers/ask.js';
import { eventually, makePlace, SIMULATED, type Place } from '../helpers/cli.js';

const FILM = `  film: { owner: me, capabilities: [video], upstreams: [{ provider: simulator }], price: { per_video_second: 0.08 } }
`;

describe('tollgate refund of a video', () => {
  let place: Place;
  before(async () => {
    const quick = 'simulator: { settings: { video_takes: 100ms }, poll_interval: 100ms }';
    place = await makePlace(SIMULATED.replace('simulator: {}', quick) + FILM);
  });
  after(() => place.close());

  it('by the ID that shows its cost names the submission, which has the charge', async () => {
    const url = await place.begin('serve').url();
    const { secret } = await place.customer('ann');
    const at = { url, secret };
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ prompt: 'A film', duration_seconds: 4 });
    const submitted = await ask(at, '/v1/queue/film', { method: 'POST', headers, body });
    const { request_id: task } = JSON.parse(submitted.text) as { request_id: string };
    let fetched = '';
    await eventually('the video is done', async () => {
      const answer = await ask(at, `/v1/queue/film/requests/${task}`);
      fetched = answer.headers.get('x-request-id') ?? '';
      return answer.text.includes('"data"');
    });
    await eventually('its record is kept', async () => {
      const shown = await place.json<{ id: string }[]>('requests');
      return shown.some(({ id }) => id === fetched);
    });
    const { status, stderr } = await place.tollgate('refund', fetched);
    expect(status).to.equal(1);
    expect(stderr).to.include(`there is no charge of "${fetched}"; it fetched a video`);
    expect(stderr).to.include(`its submission, ${task}: refund that`);
    expect(await place.json('refund', task)).to.include({ amount: '0.64' });
  });
});
