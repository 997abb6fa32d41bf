import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { checkOrThrow, Gateway } from '../../src/gateway/gateway.js';
import { parseDollars } from '../../src/lib/money.js';
import { openStore } from '../../src/store/open.js';
import { freePort } from '../helpers/free-port.js';
import { chatJson, startUpstream } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import { isInstalled, startCaddy, startNginx, type WebProxy } from './helpers/web-proxy.js';

/** More would leave a busy machine no time for the questions of the proxy. */
const CLIENTS = 2;

/** Two boxes on one store, behind the shipped configuration of a real proxy. */
const PROXIES: [string, string, string, (ports: number[]) => Promise<WebProxy>][] = [
  ['nginx', 'nginx.conf', '300ms', (ports) => startNginx(...ports)],
  // Caddy asks /readyz every two seconds.
  [
    'caddy',
    'Caddyfile',
    '6s',
    (ports) => startCaddy(ports.map((at) => `127.0.0.1:${at}`).join(' ')),
  ],
];

for (const [program, file, drain_delay, start] of PROXIES) {
  describe(`a restart of two boxes in turn behind deploy/${file}, under load`, () => {
    it('lost half of all calls: none is lost, and none is made twice', async function () {
      if (!isInstalled(program)) this.skip();
      this.timeout(120_000);
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-boxes-'));
      const upstream = await startUpstream(chatJson('Hello'));
      const url = `sqlite:${folder}/tollgate.db`;
      const ports = [await freePort(), await freePort()];
      const startBox = async (port: number): Promise<Gateway> => {
        const config = join(folder, `${port}.yaml`);
        writeFileSync(
          config,
          `listen: 127.0.0.1:${port}
store: ${url}
drain_delay: ${drain_delay}
owners: { acme: { name: Acme } }
providers: { up: { uses: openai, base_url: '${upstream.url}/${port}', api_key: sk-up } }
models:
  talk: { owner: acme, capabilities: [chat], upstreams: [{ provider: up }], price: { input_per_million: 1, output_per_million: 1 } }
`,
        );
        const parts = { log: pino({ level: 'silent' }), now: Date.now, random: Math.random };
        const gateway = await Gateway.open(await checkOrThrow(config, {}), parts);
        await gateway.listen();
        return gateway;
      };
      const boxes = await Promise.all(ports.map(startBox));
      const store = await openStore(url, { now: Date.now });
      const account = await store.createAccount('ann', parseDollars('100'));
      const { secret } = await store.createKey(account.id, 'load');
      const proxy = await start(ports);
      const answers: number[] = [];
      let isOver = false;
      const load = Array.from({ length: CLIENTS }, async () => {
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
        const options = { method: 'POST', path: '/v1/chat/completions', headers };
        const body = JSON.stringify({ model: 'talk', messages: [{ role: 'user', content: 'Hi' }] });
        while (!isOver) answers.push(await statusOf(await proxy.send(options, body)));
      });
      const served = (count: number) => until(() => answers.length >= count, 'it has answers');
      try {
        await served(50);
        for (const [at, port] of ports.entries()) {
          await boxes[at]?.stop();
          await served(answers.length + 50);
          boxes[at] = await startBox(port);
          // Caddy may ask it two seconds later, and takes it for dead until then.
          const calls = upstream.requests.length;
          const isServing = () =>
            upstream.requests.slice(calls).some(({ path }) => path.startsWith(`/${port}/`));
          await until(isServing, 'the proxy sends it calls again');
          await served(answers.length + 50);
        }
        isOver = true;
        await Promise.all(load);
        expect(answers.filter((status) => status !== 200)).to.deep.equal([]);
        expect(upstream.requests).to.have.length(answers.length);
        const entries = await store.ledger(account.id, { limit: 100_000 });
        expect(entries.filter(({ kind }) => kind === 'charge')).to.have.length(answers.length);
        expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
      } finally {
        isOver = true;
        await Promise.allSettled(load);
        await proxy.close();
        for (const box of boxes) await box.stop();
        await store.close();
        await upstream.close();
        rmSync(folder, { recursive: true, force: true });
      }
    });
  });
}

async function statusOf(answer: IncomingMessage): Promise<number> {
  for await (const _ of answer);
  return answer.statusCode ?? 0;
}
