import { expect } from 'chai';
import { pino } from 'pino';
import { Gateway, checkOrThrow } from '../../src/gateway/gateway.js';
import { SharedClock } from '../../src/lib/shared-clock.js';
import { ask } from '../helpers/ask.js';
import { startGateway } from '../helpers/gateway.js';
import { onEachStore } from '../store/helpers/ground.js';

const DAY_MS = 86_400_000;
const YAML = `
owners: { acme: { name: Acme } }
providers: { simulator: { settings: { tokens_per_second: 0 } } }
models:
  v:
    owner: acme
    capabilities: [video]
    upstreams: [{ provider: simulator }]
    price: { per_video_second: { 720p: { audio: 0.04 } } }
`;

onEachStore(
  'two gateways on one store',
  (ground) => {
    for (const days of [3, -3]) {
      it(`keep each other's tasks, though one has a clock that is wrong by ${days} days`, async () => {
        const right = await startGateway(YAML, { store: ground.place.url });
        const other = await Gateway.open(await checkOrThrow(right.file, {}), {
          log: pino({ level: 'silent' }),
          now: () => Date.now() + days * DAY_MS,
          clock: new SharedClock(Date.now() + days * DAY_MS),
          random: Math.random,
        });
        const { port } = await other.listen();
        const wrong = { url: `http://127.0.0.1:${port}`, secret: right.secret };
        const json = { 'content-type': 'application/json' };
        const init = { method: 'POST', headers: json, body: JSON.stringify({ prompt: 'A gate.' }) };
        try {
          for (const one of [right, wrong]) {
            const { text } = await ask(one, '/v1/queue/v', init);
            const { response_url } = JSON.parse(text) as { response_url: string };
            for (const asked of [right, wrong]) {
              const { status, text: result } = await ask(asked, response_url);
              expect(status, result).to.equal(200);
              expect(result).not.to.include('FAILED');
            }
          }
        } finally {
          await other.stop();
          await right.close();
        }
      });
    }
  },
  ['PostgreSQL'],
);
