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
