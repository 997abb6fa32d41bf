import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../helpers/free-port.js';
import { eventually, makePlace, type Place } from '../helpers/cli.js';
import { AGENTS, CONTENT, type Agent } from './agents.js';
import { emptyPlace, run, said } from './run.js';
import { FINAL_TEXT } from './script.js';
import { scriptedModel, scriptedYaml } from './served.js';
import { startChatWire, type Wire } from './wires.js';

const CODEX = AGENTS.find(({ title }) => title === 'codex, a provider by WebSocket');

describe('codex over a WebSocket', function () {
  this.timeout(200_000);
  let wire: Wire;
  let place: Place;

  before(async () => {
    wire = await startChatWire();
    const models = scriptedModel('acme-coder');
    const listen = `127.0.0.1:${await freePort()}`;
    place = await makePlace(scriptedYaml(wire, listen, { models }));
  });
  after(async () => {
    await place?.close();
    await wire?.close();
  });

  it('goes on by itself after the gateway was restarted between its turns', async () => {
    const first = place.start('serve');
    const url = await first.url();
    const { id, secret } = await place.customer('codex', '10');
    const where = await emptyPlace();
    const [begun, go] = [join(where.root, 'begun'), join(where.root, 'go')];
    if (!CODEX) throw new Error('There is no codex by WebSocket among the agents.');
    const agent: Agent = { ...CODEX, writes: ['hello'] };
    const cmd =
      `touch ${begun}; while [ ! -e ${go} ]; do sleep 0.1; done; ` +
      `printf '${CONTENT.trim()}\\n' > ${where.files.hello}`;
    wire.script.begin([{ name: 'exec_command', arguments: { cmd, yield_time_ms: 60_000 } }]);
    const running = run(agent, where, { url, config: place.file, secret, way: 'lines' });
    await eventually('the tool runs', () => Promise.resolve(existsSync(begun)));
    expect((await first.kill('SIGTERM')).status).to.equal(0);
    const second = place.start('serve');
    await second.url();
    await writeFile(go, '');

    const done = await running;
    expect(done.written, said(done)).to.deep.equal([CONTENT]);
    expect(done.stdout).to.include(FINAL_TEXT);
    // The log is written in batches.
    for (const serving of [first, second]) {
      await eventually('the handshake is logged', () =>
        Promise.resolve(/"status":101,.*"msg":"GET \/v1\/responses"/u.test(serving.stderr)),
      );
    }
    expect(wire.script.calls.map(({ turn }) => turn)).to.deep.equal(['step', 'text']);
    const rows = await place.json<{ kind: string; amount: string }[]>('ledger', id);
    const charges = rows.filter(({ kind }) => kind === 'charge').map(({ amount }) => amount);
    // 1,000 tokens in and 50 out; then 1,010 in, of which 100 were cached, and 51 out.
    expect(charges.toSorted()).to.deep.equal(['-0.003525', '-0.00375']);
  });
});
