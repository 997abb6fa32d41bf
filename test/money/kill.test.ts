import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDollars } from '../../src/lib/money.js';
import { openStore } from '../../src/store/open.js';
import type { Store } from '../../src/store/store-types.js';
import { chatJson, chatSse, play, startUpstream, type FakeUpstream } from '../helpers/upstream.js';
import { isLong, SEED } from '../helpers/long.js';
import { dataOf } from './helpers/scripted-gateway.js';
import { run, seeded, serve } from './helpers/gateway-process.js';
import { allChargeRows } from './helpers/mixed-books.js';
import { pricedYaml } from './helpers/priced-yaml.js';

const KILLS = isLong ? 12 : 3;
const CLIENTS = 12;
/** The latest moment of a kill, in things that have happened since the first call. */
const LATEST = 400;

describe('a killed gateway process', function () {
  this.timeout(600_000);
  const random = seeded(SEED);
  let folder: string;
  let config: string;
  let upstream: FakeUpstream;
  let store: Store;
  let account_id: string;
  let secret: string;
  const refusals: string[] = [];
  /** Called for whatever happens on the wire, so that a kill can hit any moment of it. */
  let happened = (): void => undefined;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-kill-'));
    config = join(folder, 'gateway.yaml');
    upstream = await startUpstream(async ({ json }, response) => {
      happened();
      const { stream } = json as { stream: boolean };
      const words = Array.from({ length: 6 }, (_, at) => ` ${at}`);
      await play(stream ? chatSse(words) : chatJson('Hello'), response);
      happened();
    });
    const url = `sqlite:${join(folder, 'tollgate.db')}`;
    await writeFile(config, pricedYaml({ upstream: upstream.url, store: url }));
    store = await openStore(url, { now: Date.now });
    ({ id: account_id } = await store.createAccount('tester', parseDollars('1000')));
    ({ secret } = await store.createKey(account_id, 'test'));
  });

  after(async () => {
    await upstream.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  it(`charges each whole answer once, ${KILLS} times over (seed ${SEED})`, async () => {
    const whole: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const answered = await liveUntilKilled(1 + Math.floor(random() * LATEST));
      whole.push(...answered);
      expect((await store.verify()).faults, `kill ${kill}`).to.deep.equal([]);
      const references = await charged();
      expect(references, `kill ${kill}`).to.include.members(answered);
    }
    const references = await charged();
    expect(new Set(references).size, 'no charge twice').to.equal(references.length);
    expect(new Set(whole).size, 'no answer twice').to.equal(whole.length);
    expect(whole.length).to.be.greaterThan(KILLS);
    expect(refusals).to.deep.equal([]);
    for (const reference of references) {
      expect(await store.requests.one(reference), `the record of ${reference}`).not.to.equal(
        undefined,
      );
    }
    const last = await serve(config);
    try {
      const { code, output } = await run(['verify', '--json', '--config', config]);
      expect(JSON.parse(output)).to.deep.include({ open_holds: 0, faults: [] });
      expect(code).to.equal(0);
    } finally {
      await last.kill();
    }
  });

  /** Calls a new gateway from many clients, kills it, and answers the ids of whole answers. */
  async function liveUntilKilled(moment: number): Promise<string[]> {
    const victim = await serve(config);
    let count = 0;
    let killed: Promise<void> | undefined;
    happened = () => {
      count += 1;
      if (count >= moment) killed ??= victim.kill();
    };
    const whole: string[] = [];
    const client = async (at: number): Promise<void> => {
      for (let turn = at; !killed; turn += 1) {
        const id = await ask(victim.url, turn % 2 === 0).catch(() => undefined);
        if (id !== undefined) whole.push(id);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, at) => client(at)));
    await killed;
    return whole;
  }

  /** The request id of an answer that came whole. */
  async function ask(url: string, stream: boolean): Promise<string | undefined> {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream }),
    });
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      happened();
    }
    if (response.status !== 200) refusals.push(text);
    const events = dataOf(text);
    if (stream && events.at(-1) !== '[DONE]') return undefined;
    const { id } = JSON.parse(stream ? (events[0] ?? '') : text) as { id: string };
    return id.replace('chatcmpl-', '');
  }

  async function charged(): Promise<string[]> {
    return (await allChargeRows(store, account_id)).map(({ reference }) => reference);
  }
});
