import { expect } from 'chai';
import { idIn, openSocket } from '../helpers/socket-client.js';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';

const SOCKETS = 6;
const TURNS = 3;

describe('WebSockets of a gateway with two workers', () => {
  let place: Place;

  before(async () => (place = await makePlace(SIMULATED)));
  after(() => place.close());

  it('serve turns that continue each other, and end by 1012 when it stops', async () => {
    const serving = place.start('serve', '--workers', '2');
    const url = await serving.url();
    const { id, secret } = await place.customer('agent');
    const clients = await Promise.all(
      Array.from({ length: SOCKETS }, () => openSocket({ url, secret })),
    );
    await Promise.all(
      clients.map(async (client) => {
        let previous: object = {};
        for (let turn = 0; turn < TURNS; turn += 1) {
          const end = await client.turn({ model: 'sim', input: `Turn ${turn}`, ...previous });
          expect(end.type).to.equal('response.completed');
          previous = { previous_response_id: idIn(end) };
        }
      }),
    );
    const rows = await place.json<{ kind: string }[]>('ledger', id, '--limit', '100');
    expect(rows.filter(({ kind }) => kind === 'charge')).to.have.length(SOCKETS * TURNS);
    expect((await serving.kill('SIGTERM')).status).to.equal(0);
    for (const { closed } of clients) expect(await closed).to.equal(1012);
    expect((await place.tollgate('verify')).status).to.equal(0);
  });
});

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
