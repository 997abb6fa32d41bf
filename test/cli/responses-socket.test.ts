import { expect } from 'chai';
import { idIn, openSocket } from '../helpers/socket-client.js';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';

describe('a WebSocket of a gateway that is killed within a turn', () => {
  let place: Place;

  before(async () => {
    const slow = 'simulator: { settings: { tokens_per_second: 20 } }';
    place = await makePlace(SIMULATED.replace('simulator: {}', slow));
  });
  after(() => place.close());

  it('is charged for the turns that came out whole, before and after', async () => {
    const first = place.start('serve');
    const url = await first.url();
    const { id, secret } = await place.customer('agent');
    const client = await openSocket({ url, secret });
    const previous_response_id = idIn(await client.turn({ model: 'sim', input: 'One' }));
    client.frames.length = 0;
    client.create({ model: 'sim', input: 'Two', previous_response_id });
    await client.next(({ type }) => type === 'response.output_text.delta');
    await first.kill('SIGKILL');
    expect(await client.closed).to.equal(1006);

    const second = place.start('serve');
    const again = await openSocket({ url: await second.url(), secret });
    const lost = await again.turn({ model: 'sim', input: 'Two', previous_response_id });
    expect(lost).to.have.nested.property('error.code', 'previous_response_not_found');
    expect((await again.turn({ model: 'sim', input: 'One, and Two' })).type).to.equal(
      'response.completed',
    );
    const rows = await place.json<{ kind: string }[]>('ledger', id);
    expect(rows.filter(({ kind }) => kind === 'charge')).to.have.length(2);
    expect((await place.tollgate('verify')).status).to.equal(0);
  });
});
