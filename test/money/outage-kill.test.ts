import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../helpers/until.js';
import { startProxy, type Proxy } from '../helpers/proxy.js';
import { chatJson, chatSse, play } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';
import {
  closeAndAudit,
  dataOf,
  INPUT_NANO,
  startScriptedGateway,
  OUTPUT_NANO,
  ready,
  type ScriptedGateway,
} from './helpers/scripted-gateway.js';
import { seeded, serve, type GatewayProcess } from './helpers/gateway-process.js';
import { allChargeRows } from './helpers/mixed-books.js';
import { pricedYaml } from './helpers/priced-yaml.js';
import type { LedgerEntry } from '../../src/store/ledger/ledger-columns.js';
import { isLong, SEED } from '../helpers/long.js';

const CLIENTS = 4;
/** Whole answers after the last outage. */
const ENOUGH = 20;
/** Longer than an answer waits for the store. */
const OUTAGE_MS = isLong ? 60_000 : 3_600;
const ROUNDS = isLong ? 5 : 1;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Whole {
  id: string;
  cost_nano: bigint;
}

/**
 * Two gateways of their own process, and one in this process whose clock is 70 s ahead, share a
 * store that goes away. Meanwhile one is killed and started again, and the other one is paused.
 */
onEachStore('gateways killed during a store outage', function (ground) {
  const random = seeded(SEED);
  let folder: string;
  let house: ScriptedGateway;
  let proxy: Proxy | undefined;
  let victims: GatewayProcess[];

  const isPostgres = (): boolean => ground.place.dialect === 'postgres';

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-outage-'));
    victims = [];
    const url = new URL(ground.place.url);
    if (isPostgres()) {
      proxy = await startProxy(url.hostname, Number(url.port || 5432));
      url.port = String(proxy.port);
    }
    house = await startScriptedGateway(
      {
        up: async ({ json }, response) => {
          await sleep(random() * 300);
          const { stream } = json as { stream?: boolean };
          await play(stream ? chatSse(['one', ' two']) : chatJson('Hello'), response);
        },
      },
      { store: JSON.stringify(url.href), credit: '1000', now: () => Date.now() + 70_000 },
    );
    const yaml = pricedYaml({ upstream: house.upstream.url, store: url.href, max_tokens: 100 });
    await writeFile(join(folder, 'gateway.yaml'), yaml);
  });
  afterEach(async () => {
    proxy?.set('here');
    for (const victim of victims) await victim.kill();
    await closeAndAudit(house);
    await proxy?.close();
    proxy = undefined;
    await rm(folder, { recursive: true, force: true });
  });

  /** Resolves with what brings the store back. */
  const takeAway = async (): Promise<() => Promise<void>> => {
    if (!proxy) return ground.place.lock('update accounts set name = name');
    const before = proxy;
    before.set(random() < 0.5 ? 'away' : 'hangs');
    return async () => before.set('here');
  };

  const ask = async (url: string, stream: boolean): Promise<Whole | undefined> => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${house.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'm',
        messages: [{ role: 'user', content: 'Hi' }],
        stream,
        ...(stream && { stream_options: { include_usage: true } }),
      }),
    });
    const text = await response.text();
    const events = dataOf(text);
    if (response.status !== 200 || (stream && events.at(-1) !== '[DONE]')) return undefined;
    const { id, usage } = JSON.parse(stream ? (events.at(-2) ?? '') : text) as {
      id: string;
      usage: { prompt_tokens: number; completion_tokens: number };
    };
    const cost_nano =
      BigInt(usage.prompt_tokens) * INPUT_NANO + BigInt(usage.completion_tokens) * OUTPUT_NANO;
    return { id: id.replace('chatcmpl-', ''), cost_nano };
  };

  /** Calls all gateways until `stop`; resolves with the answers that came whole. */
  const callAll = (urls: () => string[]): { whole(): number; stop(): Promise<Whole[]> } => {
    let isOver = false;
    const whole: Whole[] = [];
    const client = async (at: number, gateway: number): Promise<void> => {
      for (let turn = at; !isOver; turn += 1) {
        const answer = await ask(urls()[gateway] ?? '', turn % 2 === 0).catch(() => undefined);
        if (answer) whole.push(answer);
        else await sleep(50);
      }
    };
    const clients = [0, 1, 2].flatMap((gateway) =>
      Array.from({ length: CLIENTS }, (_, at) => client(at, gateway)),
    );
    return {
      whole: () => whole.length,
      stop: async () => {
        isOver = true;
        await Promise.all(clients);
        return whole;
      },
    };
  };

  const round = async (config: string): Promise<void> => {
    await sleep(300 + random() * 300);
    const bringBack = await takeAway();
    await sleep(OUTAGE_MS * (0.9 + random() * 0.2));
    const [first, second] = victims;
    await first?.kill();
    process.kill(second?.pid ?? 0, 'SIGSTOP');
    await sleep(300);
    await bringBack();
    process.kill(second?.pid ?? 0, 'SIGCONT');
    victims = [await serve(config), ...(second ? [second] : [])];
  };

  it(`charges each whole answer once, to the nano-dollar (seed ${SEED})`, async () => {
    const config = join(folder, 'gateway.yaml');
    victims = await Promise.all([serve(config), serve(config)]);
    const calls = callAll(() => [...victims.map(({ url }) => url), house.url]);
    for (let count = 0; count < ROUNDS; count += 1) await round(config);
    const before = calls.whole();
    await until(() => calls.whole() > before + ENOUGH, 'all serve again');
    const whole = await calls.stop();
    for (const at of [...victims, house]) await ready(at);
    await house.settled();
    const charges = await chargesOf(house);
    for (const { id, cost_nano } of whole) {
      expect(charges.get(id)?.map(({ amount_nano }) => amount_nano)).to.deep.equal([-cost_nano]);
    }
    // Beyond them only calls can be charged whose gateway was killed before their last byte.
    expect(charges.size - whole.length).to.be.within(0, CLIENTS * ROUNDS);
  }).timeout(600_000 + 2 * OUTAGE_MS * ROUNDS);
});

async function chargesOf({
  gateway,
  account,
}: ScriptedGateway): Promise<Map<string, LedgerEntry[]>> {
  const all = new Map<string, LedgerEntry[]>();
  for (const entry of await allChargeRows(gateway.store, account.id)) {
    all.set(entry.reference, [...(all.get(entry.reference) ?? []), entry]);
  }
  return all;
}
