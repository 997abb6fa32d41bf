import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDollars } from '../../src/lib/money.js';
import type { Store } from '../../src/store/store-types.js';
import type { Answer } from '../helpers/ask.js';
import { chatJson, play, startUpstream, type FakeUpstream } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';
import { isLong, SEED } from '../helpers/long.js';
import { HELLO } from './helpers/scripted-gateway.js';
import { repeat } from './helpers/idempotent-request.js';
import { run, seeded, serve, type GatewayProcess } from './helpers/gateway-process.js';
import { allChargeRows } from './helpers/mixed-books.js';
import { pricedYaml } from './helpers/priced-yaml.js';

const KILLS = isLong ? 5 : 2;
const CLIENTS = 12;
/** The latest moment of a kill, in things that have happened since the first call. */
const LATEST = 150;

const VIDEO_MODEL =
  '  v: { owner: acme, capabilities: [video], upstreams: [{ provider: simulator }], price: { per_video_second: 0.01 } }\n';
const VIDEO = { prompt: 'x', parameters: { duration_seconds: 1 } };

/** What a client has got for its key, in the end. */
interface Got {
  what: 'chat' | 'video';
  id: string;
}

onEachStore('a gateway killed while clients repeat idempotent requests', (ground) => {
  const random = seeded(SEED);
  let folder: string;
  let config: string;
  let upstream: FakeUpstream;
  let store: Store;
  let account_id: string;
  let secret: string;
  let victim: GatewayProcess;
  let over: boolean;
  let got: Got[];
  let happened = (): void => undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-kill-'));
    config = join(folder, 'gateway.yaml');
    upstream = await startUpstream(async (_received, response) => {
      happened();
      await play(chatJson(`Hello ${randomUUID()}`), response);
      happened();
    });
    const yaml = pricedYaml({
      upstream: upstream.url,
      store: ground.place.url,
      providers: ', simulator: {}',
      models: VIDEO_MODEL,
    });
    await writeFile(config, yaml);
    store = await ground.open();
    ({ id: account_id } = await store.createAccount('tester', parseDollars('1000')));
    ({ secret } = await store.createKey(account_id, 'test'));
    over = false;
    got = [];
  });

  afterEach(async () => {
    await victim.kill();
    await upstream.close();
    await rm(folder, { recursive: true, force: true });
  });

  it(`charges each key once, ${KILLS} kills over (seed ${SEED})`, async function () {
    this.timeout(600_000);
    let living = serve(config);
    victim = await living;
    const clients = Array.from({ length: CLIENTS }, (_, at) => client(at, () => living));
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = got.length;
      await moments(1 + Math.floor(random() * LATEST));
      // The clients meet a gateway that is gone before they meet the next one.
      await victim.kill();
      living = serve(config);
      victim = await living;
      expect((await store.verify()).faults, `kill ${kill}, got ${before}`).to.deep.equal([]);
    }
    over = true;
    await Promise.all(clients);
    await expectBooks();
  });

  function moments(count: number): Promise<void> {
    let left = count;
    return new Promise((resolve) => {
      happened = () => {
        left -= 1;
        if (left <= 0) resolve();
      };
    });
  }

  /** Asks for one thing after the other, each until it has it. */
  async function client(at: number, living: () => Promise<GatewayProcess>): Promise<void> {
    for (let turn = at; !over; turn += 1) {
      const what = turn % 3 === 0 ? 'video' : 'chat';
      got.push({ what, id: await insist(what, randomUUID(), living) });
    }
  }

  async function insist(
    what: Got['what'],
    key: string,
    living: () => Promise<GatewayProcess>,
  ): Promise<string> {
    for (;;) {
      const { url } = await living();
      const answer = await ask(url, key, what).catch(() => undefined);
      happened();
      if (answer && answer.status < 300) {
        const body = JSON.parse(answer.text) as { id?: string; request_id?: string };
        return body.request_id ?? String(body.id).replace('chatcmpl-', '');
      }
      if (answer) expect(answer.status, answer.text).to.equal(409);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  function ask(url: string, key: string, what: Got['what']): Promise<Answer> {
    const at = { url, secret };
    return what === 'chat'
      ? repeat(at, key, HELLO)
      : repeat(at, key, VIDEO, { path: '/v1/queue/v' });
  }

  async function expectBooks(): Promise<void> {
    const ids = (what: Got['what']) => got.filter((one) => one.what === what).map(({ id }) => id);
    expect(new Set(got.map(({ id }) => id)).size, 'one answer a key').to.equal(got.length);
    const charged = (await allChargeRows(store, account_id)).map(({ reference }) => reference);
    expect(charged, 'one charge a key').to.have.members(ids('chat'));
    const tasks = await store.tasks.list({ limit: 100_000 });
    const made = tasks.filter(({ status }) => status !== 'FAILED').map(({ id }) => id);
    expect(made, 'one task a key').to.have.members(ids('video'));
    expect(got.length).to.be.greaterThan(KILLS);
    const { code, output } = await run(['verify', '--json', '--config', config]);
    expect(JSON.parse(output)).to.deep.include({ faults: [] });
    expect(code).to.equal(0);
  }
});
