import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve, type GatewayProcess } from '../../money/helpers/gateway-process.js';
import { chatJson, play, startUpstream, type FakeUpstream } from '../../helpers/upstream.js';
import { until } from '../../helpers/until.js';
import { dollars, onEachStore } from '../../store/helpers/ground.js';

const CALLS = 500;
const CALLERS = 20;

onEachStore('a key that is revoked under load', (ground) => {
  describe('by one process of two', () => {
    let folder: string;
    let upstream: FakeUpstream;
    let serving: GatewayProcess[];
    let answerAll = (): void => undefined;

    beforeEach(async () => {
      const held = new Promise<void>((resolve) => (answerAll = resolve));
      upstream = await startUpstream(async (_, response) => {
        await held;
        await play(chatJson('Hello'), response);
      });
      folder = await mkdtemp(join(tmpdir(), 'tollgate-revoke-'));
      const config = join(folder, 'gateway.yaml');
      await writeFile(config, yamlOf(ground.place.url, upstream.url));
      serving = await Promise.all([serve(config), serve(config)]);
    });
    afterEach(async () => {
      answerAll();
      await Promise.all(serving.map((one) => one.kill()));
      await upstream.close();
      await rm(folder, { recursive: true, force: true });
    });

    async function call(secret: string, nth: number): Promise<number> {
      const answer = await fetch(`${serving[nth % 2]?.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: '{"model":"paid","messages":[{"role":"user","content":"Hi"}]}',
      });
      await answer.arrayBuffer();
      return answer.status;
    }

    it('admits no call of either any more, and ends in-flight calls well', async () => {
      ground.now_ms = Date.now();
      const store = await ground.open();
      const { id: account_id } = await store.createAccount('ann', dollars(100));
      const { key, secret } = await store.createKey(account_id, 'k');
      const session = await store.sign_in.createSession({
        account_id,
        email: null,
        via: 'link',
        operator: false,
      });
      const underWay = Array.from({ length: CALLS }, (_, nth) => call(secret, nth));
      await until(() => upstream.requests.length === CALLS, 'all calls are in flight');

      let revoked = false;
      const late: number[] = [];
      const callers = Array.from({ length: CALLERS }, async (_, caller) => {
        for (let nth = caller; late.length < CALLS; nth += 1) {
          const isLate = revoked;
          const answered = call(secret, nth);
          // One that was let in waits for its upstream, as those before it do.
          if (isLate) late.push(await answered);
          else underWay.push(answered);
          if (!isLate) await Promise.race([answered, new Promise(setImmediate)]);
          if (underWay.length >= 2 * CALLS) await until(() => revoked, 'it is revoked');
        }
      });
      const answer = await fetch(`${serving[0]?.url}/api/keys/${key.id}`, {
        method: 'DELETE',
        headers: { cookie: `session=${session}`, 'sec-fetch-site': 'same-origin' },
      });
      revoked = true;
      expect(answer.status).to.equal(204);
      await Promise.all(callers);
      expect(new Set(late)).to.deep.equal(new Set([401]));

      answerAll();
      const statuses = await Promise.all(underWay);
      expect(statuses.slice(0, CALLS).every((status) => status === 200)).to.equal(true);
      const admitted = statuses.filter((status) => status === 200).length;
      expect(statuses.filter((status) => status === 401)).to.have.length(
        statuses.length - admitted,
      );
      const charges = (await store.ledger(account_id, { limit: 2_000 })).filter(
        ({ kind }) => kind === 'charge',
      );
      expect([charges.length, upstream.requests.length]).to.deep.equal([admitted, admitted]);
      expect(await store.verify()).to.deep.include({ faults: [], open_holds: 0 });
    });
  });
});

function yamlOf(store: string, upstream: string): string {
  return `listen: 127.0.0.1:0
store: ${store}
log: { level: silent }
limits: { connections: 2000, failed_keys: 100000 }
owners: { acme: { name: OpenaiGateway } }
providers: { acme: { uses: openai, base_url: '${upstream}', api_key: sk-acme } }
models: { paid: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme }], price: { input_per_million: 1, output_per_million: 2 } } }
`;
}
