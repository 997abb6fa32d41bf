import { expect } from 'chai';
import { pino } from 'pino';
import { Gateway, checkOrThrow } from '../../src/gateway/gateway.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import {
  chatJson,
  play,
  providerAt,
  startUpstream,
  upstreamAt,
  type FakeUpstream,
} from '../helpers/upstream.js';
import type { Upstream } from '../../src/core/model.js';
import { until } from '../helpers/until.js';
import { chat } from '../helpers/ask.js';
import { gatewayConnection } from '../../src/http/gateway-connection.js';
import { RequestNotes } from '../../src/pipeline/request-record.js';
import { UpstreamRests } from '../../src/pipeline/upstream-rests.js';
import type { SendContext, Work } from '../../src/pipeline/work.js';
import type { Services } from '../../src/pipeline/services.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { askUpstreams } from '../../src/stages/ask-upstreams.js';
import { ProviderHealth } from '../../src/telemetry/provider-health.js';
import { onEachStore } from '../store/helpers/ground.js';

const TALKS = Array.from({ length: 200 }, (_, at) => `Talk ${at}`);
/** So many of them take their turn at a time. */
const CLIENTS = 20;
/** No rest is longer. */
const LONGEST_REST_MS = 60_000;

interface Asked {
  messages: { content: string }[];
}

/** Two gateways on one store, as two workers are, before two upstreams that share the load. */
class TwoWorkers {
  now_ms = Date.UTC(2026, 10, 28);
  isLeftBroken = false;
  readonly #upstreams: FakeUpstream[] = [];
  #first: TestGateway | undefined;
  #other: Gateway | undefined;
  /** The addresses of the two. */
  #urls: string[] = [];
  /** The upstreams that have answered each talk, in the order of its turns. */
  readonly #answered = new Map<string, string[]>();
  readonly #turns = new Map<string, number>();

  async begin(store: string): Promise<void> {
    for (const name of ['left', 'right']) this.#upstreams.push(await this.#upstream(name));
    const providers = ['left', 'right'].map((name, at) => {
      return `  ${name}: { uses: openai, base_url: '${this.#upstreams[at]?.url}', api_key: sk-a }`;
    });
    const yaml = `owners: { acme: { name: Acme } }
providers:
${providers.join('\n')}
models:
  shared:
    owner: acme
    capabilities: [chat]
    price: { input_per_million: 1, output_per_million: 2 }
    upstreams: [{ provider: left, weight: 1 }, { provider: right, weight: 1 }]
`;
    const options = { now: () => this.now_ms, has_workers: true };
    this.#first = await startGateway(yaml, { store, ...options });
    const parts = { log: pino({ level: 'silent' }), random: Math.random, ...options };
    this.#other = await Gateway.open(await checkOrThrow(this.#first.file, {}), parts);
    const { port } = await this.#other.listen();
    this.#urls = [this.#first.url, `http://127.0.0.1:${port}`];
  }

  async end(): Promise<void> {
    await this.#other?.stop();
    await this.#first?.close();
    for (const upstream of this.#upstreams) await upstream.close();
  }

  #upstream(name: string): Promise<FakeUpstream> {
    return startUpstream(async ({ json }, response) => {
      const talk = (json as Asked).messages[1]?.content ?? '';
      if (name === 'left' && this.isLeftBroken) {
        await play({ status: 503, body: '{}' }, response);
        return;
      }
      this.homesOf(talk).push(name);
      await play(chatJson('Go on.'), response);
    });
  }

  homesOf(talk: string): string[] {
    const answered = this.#answered.get(talk) ?? [];
    this.#answered.set(talk, answered);
    return answered;
  }

  /** One turn more of a talk, at the workers in turn. Resolves with its upstream. */
  async turn(talk: string): Promise<string | undefined> {
    const turn = this.#turns.get(talk) ?? 0;
    this.#turns.set(talk, turn + 1);
    const said = Array.from({ length: turn }, (_, at) => [
      { role: 'assistant', content: 'Go on.' },
      { role: 'user', content: `More ${at}` },
    ]);
    const opening = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: talk },
    ];
    const body = { model: 'shared', messages: [...opening, ...said.flat()] };
    const { secret = '' } = this.#first ?? {};
    const answer = await chat({ url: this.#urls[(turn + talk.length) % 2] ?? '', secret }, body);
    expect(answer.status, answer.text).to.equal(200);
    return this.homesOf(talk).at(-1);
  }

  async turnOfAll(): Promise<void> {
    for (let at = 0; at < TALKS.length; at += CLIENTS) {
      await Promise.all(TALKS.slice(at, at + CLIENTS).map((talk) => this.turn(talk)));
    }
    this.now_ms += 2_000;
  }

  /** A further talk at the left upstream. */
  async talkAtLeft(): Promise<string> {
    for (let at = 0; ; at += 1)
      if ((await this.turn(`Other ${at}`)) === 'left') return `Other ${at}`;
  }

  /** Waits until both workers know that the left upstream answers, by turns of a talk. */
  async untilLeftIsCalled(talk: string): Promise<void> {
    this.now_ms += LONGEST_REST_MS;
    await until(async () => {
      this.now_ms += 1_000;
      const homes = [await this.turn(talk), await this.turn(talk)];
      return homes.every((home) => home === 'left');
    }, 'both workers call the left upstream again');
  }
}

function switches(homes: readonly string[]): number {
  return homes.filter((home, at) => at > 0 && home !== homes[at - 1]).length;
}

onEachStore('200 conversations over two upstreams, at two workers', (ground) => {
  let house: TwoWorkers;

  beforeEach(async () => {
    house = new TwoWorkers();
    await house.begin(ground.place.url);
  });
  afterEach(() => house.end());

  it('stay at one upstream each, and move twice at most while one fails', async function () {
    this.timeout(240_000);
    for (let turn = 0; turn < 2; turn += 1) await house.turnOfAll();
    const homes = new Map(TALKS.map((talk) => [talk, house.homesOf(talk)[0]]));
    for (const talk of TALKS) expect(switches(house.homesOf(talk)), talk).to.equal(0);
    const atLeft = TALKS.filter((talk) => homes.get(talk) === 'left');
    expect(atLeft.length).to.be.within(60, 140);

    const other = await house.talkAtLeft();
    house.isLeftBroken = true;
    await house.turnOfAll();
    for (const talk of TALKS) expect(house.homesOf(talk).at(-1), talk).to.equal('right');

    house.isLeftBroken = false;
    await house.untilLeftIsCalled(other);
    await house.turnOfAll();
    for (const talk of TALKS) {
      const all = house.homesOf(talk);
      expect(all.at(-1), talk).to.equal(homes.get(talk));
      expect(switches(all), talk).to.equal(homes.get(talk) === 'left' ? 2 : 0);
    }
  });
});

describe('a call that another upstream answers than its conversation is used to', () => {
  const log = pino({ level: 'silent' });
  const upstreams = ['home', 'other'].map((name) =>
    upstreamAt({ ...providerAt('http://127.0.0.1:1'), name }),
  );
  const [home] = upstreams;

  /** Whether a call is noted as moved. */
  async function isMoved(work: Pick<Work, 'home'>, isHomeBroken: boolean): Promise<boolean> {
    const store = { exchange: () => Promise.resolve([]) };
    const notes = new RequestNotes();
    const parts = { store, log, now: () => 0 } as unknown as ConstructorParameters<
      typeof UpstreamRests
    >[0];
    const services = {
      ...parts,
      rests: new UpstreamRests(parts),
      health: new ProviderHealth(parts.now),
    };
    const asked = {
      ...work,
      upstreams,
      send: ({ provider }: Upstream) =>
        isHomeBroken && provider.name === 'home'
          ? Promise.reject(new UpstreamError('broken', 'No.'))
          : Promise.resolve({ body: () => undefined }),
    };
    const context = {
      client: gatewayConnection(),
      notes,
      services: services as unknown as Services,
    };
    await askUpstreams(asked as unknown as Work, context as unknown as SendContext);
    return notes.is_moved;
  }

  it('is noted as moved', async () => {
    expect(await isMoved({ home }, true)).to.equal(true);
    expect(await isMoved({ home }, false)).to.equal(false);
    expect(await isMoved({}, true), 'no conversation').to.equal(false);
  });
});
