import { expect } from 'chai';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { Gateway, checkOrThrow } from '../../src/gateway/gateway.js';
import { until } from '../helpers/until.js';
import { startProxy, type Proxy } from '../helpers/proxy.js';
import { chatJson, chatSse, play, type Received } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';
import {
  closeAndAudit,
  dataOf,
  HELLO,
  startScriptedGateway,
  ready,
  type ScriptedGateway,
} from './helpers/scripted-gateway.js';
import type { ServerResponse } from 'node:http';

/** Long enough for an answer to stop waiting for the store. */
const WAIT_MS = 150;
/** `TOLLGATE_TEST_OUTAGE_MS=14000` shows what older versions lost. */
const OUTAGE_MS = Number(process.env.TOLLGATE_TEST_OUTAGE_MS ?? '600');

/** Far above the two seconds of a probe, far below the time that a hanging store takes. */
const PROBE_MS = 15_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Answer {
  status: number;
  text: string;
}

/** An upstream whose answers wait until `goOn`, so that the store can go away meanwhile. */
class Script {
  goOn!: () => void;
  begun = 0;
  #held = this.#hold();

  #hold(): Promise<void> {
    return new Promise((resolve) => (this.goOn = resolve));
  }

  answer = async ({ json }: Received, response: ServerResponse): Promise<void> => {
    this.begun += 1;
    await this.#held;
    await play((json as { stream?: boolean }).stream ? chatSse(['one']) : chatJson('x'), response);
  };

  again(): void {
    this.begun = 0;
    this.#held = this.#hold();
  }
}

const isWhole = ({ status, text }: Answer): boolean =>
  status === 200 && (!text.startsWith('data:') || dataOf(text).at(-1) === '[DONE]');

onEachStore('a store outage while calls are in flight', (ground, name) => {
  let house: ScriptedGateway;
  let script: Script;
  let proxy: Proxy | undefined;

  const open = async (options: object = {}, url = ground.place.url): Promise<void> => {
    script = new Script();
    const store = JSON.stringify(url);
    const terms = { store, store_wait_ms: WAIT_MS, ...options };
    house = await startScriptedGateway({ up: (...call) => script.answer(...call) }, terms);
  };

  const call = async (stream: boolean, headers: Record<string, string> = {}): Promise<Answer> => {
    const { secret } = house;
    const response = await house.post(
      { ...HELLO, stream },
      {
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          ...headers,
        },
      },
    );
    return { status: response.status, text: await response.text() };
  };

  /** Calls whose holds are taken, and which the upstream answers once `goOn` is called. */
  const begin = async (count: number): Promise<Promise<Answer[]>[]> => {
    const answers = Array.from({ length: count }, (_, at) => call(at % 2 === 0));
    await until(() => script.begun === count, 'the upstream has all calls');
    return [Promise.all(answers)];
  };

  const journal = (): string => join(house.folder, 'journal');
  const journals = (): string[] => (existsSync(journal()) ? readdirSync(journal()) : []);

  const probe = async (): Promise<{ status: number; reason: string }> => {
    const response = await fetch(`${house.url}/readyz`);
    const { reason = '' } = (await response.json()) as { reason?: string };
    return { status: response.status, reason };
  };

  /** Each answer that is whole is charged once, and nothing else is. */
  const expectCharged = async (answers: readonly Answer[]): Promise<void> => {
    await ready(house);
    await house.settled();
    const references = (await house.charges()).map(({ reference }) => reference).toSorted();
    const ids = answers
      .filter(isWhole)
      .map(({ text }) => /"id":"chatcmpl-([^"]+)"/u.exec(text)?.[1] ?? '');
    expect(references).to.deep.equal(ids.toSorted());
  };

  afterEach(async () => {
    proxy?.set('here');
    await closeAndAudit(house);
    await proxy?.close();
    proxy = undefined;
  });

  it('loses no charge while it is locked for longer than answers wait', async () => {
    await open({ settings: 'journal: journal' });
    const [running] = await begin(6);
    const unlock = await ground.place.lock('update accounts set name = name');
    const since_ms = Date.now();
    script.goOn();
    const answers = await running;
    expect(answers?.filter(isWhole)).to.have.length(6);
    expect(await probe()).to.include({ status: 503 });
    expect((await probe()).reason).to.include('6 charges wait in the journal');
    await sleep(Math.max(OUTAGE_MS - (Date.now() - since_ms), 0));
    await unlock();
    await expectCharged(answers ?? []);
    const [file = ''] = journals();
    expect(statSync(journal()).mode & 0o777).to.equal(0o700);
    expect(statSync(join(journal(), file)).mode & 0o777).to.equal(0o600);
  });

  it('keeps the answer of a call that may be repeated', async () => {
    await open();
    const key = { 'idempotency-key': 'again' };
    const first = call(false, key);
    await until(() => script.begun === 1, 'the upstream has the call');
    const unlock = await ground.place.lock('update accounts set name = name');
    script.goOn();
    const answer = await first;
    await unlock();
    await ready(house);
    expect((await call(false, key)).text).to.equal(answer.text);
    expect(script.begun).to.equal(1);
    await expectCharged([answer]);
  });

  it('enters charges after a restart that the shutdown could not enter', async () => {
    await open({ settings: 'journal: journal' });
    const { store } = house.gateway;
    const [running] = await begin(4);
    store.charge = () => Promise.reject(new Error('The disk is full.'));
    script.goOn();
    const answers = await running;
    await house.gateway.stop();
    expect(journals()).to.have.length(1);
    const checked = await checkOrThrow(house.file, {});
    const log = pino({ level: 'silent' });
    const gateway = await Gateway.open(checked, { log, now: Date.now, random: Math.random });
    const { port } = await gateway.listen();
    const url = `http://127.0.0.1:${port}`;
    Object.assign(house, again(house, gateway, url));
    await expectCharged(answers ?? []);
    expect(answers?.filter(isWhole)).to.have.length(4);
    expect(journals(), 'only the new one').to.have.length(1);
  });

  it('enters the charges in the journal during the shutdown', async () => {
    await open({ settings: 'journal: journal' });
    const { store } = house.gateway;
    const charge = store.charge.bind(store);
    const [running] = await begin(4);
    store.charge = () => Promise.reject(new Error('The disk is full.'));
    script.goOn();
    await running;
    store.charge = charge;
    await house.gateway.stop();
    expect(journals()).to.have.length(0);
    expect(await ground.place.sql("select 1 from ledger where kind = 'charge'")).to.have.length(4);
    expect(await ground.place.sql('select 1 from holds')).to.have.length(0);
  });

  it('ends answers as errors, and logs the charges, where the journal fails too', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
    await open({ log, settings: 'journal: gateway.yaml' });
    const { store } = house.gateway;
    const charge = store.charge.bind(store);
    const [running] = await begin(2);
    store.charge = () => Promise.reject(new Error('The disk is full.'));
    script.goOn();
    const [stream, json] = (await running) ?? [];
    store.charge = charge;
    expect(json?.status).to.equal(500);
    expect(stream?.status).to.equal(200);
    expect(stream?.text).to.include('"internal_error"').and.not.include('[DONE]');
    const all = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    // The stream is told of once, and by its ID, as the answer in JSON is, after its last event.
    const failures = () => all().filter(({ msg }) => /^a (?:request|stream)/u.test(String(msg)));
    await until(() => failures().length >= 2, 'a line for each call');
    const failed = failures();
    expect(failed.map(({ msg }) => msg)).to.have.members(['a request broke', 'a request failed']);
    for (const { request_id } of failed) expect(request_id).to.be.a('string');
    const told = all().filter(({ msg }) => String(msg).includes('enter it by hand'));
    expect(told).to.have.length(2);
    for (const one of told) {
      expect(one).to.include({ account_id: house.account.id, key_id: house.key_id, model: 'm' });
      expect(one).to.include({ provider: 'up', estimated: false, level: 50 });
      expect(one.cost_nano).to.match(/^[1-9]\d*$/u);
      expect(one.usage).to.include('prompt_tokens');
      expect(one.request_id).to.be.a('string');
    }
    await house.settled();
    expect(await house.charges()).to.deep.equal([]);
  });

  it('releases in the end the hold of a call that failed meanwhile', async () => {
    await open();
    const { store } = house.gateway;
    const release = store.release.bind(store);
    // Fails more often than older versions tried.
    let failures = 25;
    store.release = (...args) => {
      failures -= 1;
      return failures > 0 ? Promise.reject(new Error('The disk is full.')) : release(...args);
    };
    script.answer = (_received, response) => play({ status: 500 }, response);
    const { status } = await call(false);
    expect(status).to.equal(502);
    await until(() => failures <= 22, 'it was tried again');
    store.release = release;
    await house.settled();
  });

  if (name === 'PostgreSQL') {
    for (const how of ['away', 'hangs'] as const) {
      it(`loses no charge where PostgreSQL is ${how === 'away' ? how : 'there but hangs'}`, async () => {
        const url = new URL(ground.place.url);
        proxy = await startProxy(url.hostname, Number(url.port || 5432));
        url.port = String(proxy.port);
        await open({}, url.href);
        const [running] = await begin(6);
        proxy.set(how);
        script.goOn();
        const answers = await running;
        expect(answers?.filter(isWhole)).to.have.length(6);
        const asked_ms = performance.now();
        expect(await probe()).to.include({ status: 503 });
        expect(performance.now() - asked_ms, 'time of the probe').to.be.lessThan(PROBE_MS);
        await sleep(OUTAGE_MS);
        proxy.set('here');
        await expectCharged(answers ?? []);
      });
    }
  }
});

/** The house with another gateway on the same store. */
function again(house: ScriptedGateway, gateway: Gateway, url: string): Partial<ScriptedGateway> {
  const { store } = gateway;
  return {
    gateway,
    url,
    charges: async () =>
      (await store.ledger(house.account.id, { limit: 1_000 })).filter(
        ({ kind }) => kind === 'charge',
      ),
    settled: async () => {
      expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
    },
    close: async () => {
      await gateway.stop();
      await rm(house.folder, { recursive: true, force: true });
    },
  };
}
