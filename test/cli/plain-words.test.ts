import { expect } from 'chai';
import { chat } from '../helpers/ask.js';
import { eventually, makePlace, SIMULATED, type Place } from '../helpers/cli.js';

describe('the words of a first start on another address, and of its failures', () => {
  let place: Place;

  before(async () => {
    const settings =
      'public_url: http://127.0.0.1:8080\nfirst_start: { account: ann, credit: 1 }\n';
    place = await makePlace(SIMULATED + settings);
  });
  after(() => place.close());

  it('say that a sign-in link begins with another address, and list the status failed', async () => {
    const running = place.begin('serve');
    const url = await running.url();
    expect(running.stdout).to.include('http://127.0.0.1:8080/sign-in/link?token=');
    const sentence = `It begins with the public_url of the configuration, not with ${url}.`;
    expect(running.stdout).to.include(sentence);
    const secret = /Bearer ([^']+)'/u.exec(running.stdout)?.[1] ?? '';
    expect((await chat({ url, secret }, { model: 'none', messages: [] })).status).to.be.above(399);
    await eventually('the failure is listed', async () => {
      const rows = await place.json<{ code: string | null }[]>('requests', '--status', 'failed');
      return rows.length === 1 && rows[0]?.code !== null;
    });
  });
});
