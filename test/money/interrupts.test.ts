import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import type { ServerResponse } from 'node:http';
import { allChargeRows } from './helpers/mixed-books.js';
import {
  countedYaml,
  FILES,
  ownPrompt,
  WIRES,
  WORD,
  type Act,
  type CountedWire,
} from './helpers/counted-streams.js';
import { dueOfCall, sumOfDues, type Due } from './helpers/due.js';
import { seeded } from './helpers/gateway-process.js';
import { gate } from './helpers/disconnecting.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { startUpstream, type FakeUpstream, type Received } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import { onEachStore } from '../store/helpers/ground.js';
import { isLong, SEED } from '../helpers/long.js';

/** How many streams each test makes. */
const STREAMS = Number(process.env.TOLLGATE_TEST_STREAMS ?? (isLong ? '5000' : '100'));
const AT_ONCE = 8;
const MAX_WORDS = 6;

/** A client's way to ask for a stream. */
interface ClientFormat {
  path(model: string): string;
  body(model: string, text: string, n: number): object;
  takes_n?: true;
}

const chatBody = (model: string, content: string, n: number): object => ({
  model,
  n,
  stream: true,
  messages: [{ role: 'user', content }],
});

const FORMATS: readonly ClientFormat[] = [
  { path: () => '/v1/chat/completions', body: chatBody, takes_n: true },
  { path: () => '/openai/v1/chat/completions', body: chatBody, takes_n: true },
  {
    path: () => '/v1/completions',
    body: (model, prompt, n) => ({ model, prompt, n, stream: true }),
    takes_n: true,
  },
  {
    path: () => '/v1/messages',
    body: (model, text) => ({ ...chatBody(model, text, 1), n: undefined, max_tokens: 100 }),
  },
  {
    path: () => '/v1/responses',
    body: (model, input) => ({ model, input, stream: true }),
  },
  {
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: (_, text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  },
];

type Ending = 'whole' | 'cut' | 'left' | 'left, then whole' | 'left, then cut';

/** A call to an upstream: the acts before its client leaves or the stream is cut, and those after. */
interface Call {
  before: readonly Act[];
  after: readonly Act[];
}

interface Story {
  id: number;
  wire: CountedWire;
  format: ClientFormat;
  ending: Ending;
  /** All acts of a call go out in one packet. */
  is_one_packet: boolean;
  calls: Call[];
  /** Undefined where nothing was delivered. */
  due: Due | undefined;
}

/** Makes stories from a seed. */
class Author {
  constructor(private readonly random: () => number) {}

  story(id: number): Story {
    const wire = this.#one(WIRES);
    const format = this.#one(FORMATS);
    const ending = this.#one<Ending>([
      'whole',
      'cut',
      'left',
      'left, then whole',
      'left, then cut',
    ]);
    const n = wire.is_single && format.takes_n && this.#chance(0.3) ? 2 : 1;
    const isSeen = n > 1 || ending.startsWith('left');
    const calls = Array.from({ length: n }, () => this.#call(wire, ending, isSeen));
    const own_prompt = ownPrompt(wire, countTokens(promptOf(id)));
    const dues = calls.map(({ before, after }) => {
      const isWhole = ending.endsWith('whole');
      return dueOfCall(wire, [...before, ...after], isWhole, own_prompt);
    });
    const isSilent = calls.every(({ before }) => !before.some(({ word }) => word));
    const due = isSilent ? undefined : sumOfDues(dues);
    return { id, wire, format, ending, is_one_packet: this.#chance(0.3), calls, due };
  }

  #call(wire: CountedWire, ending: Ending, isSeen: boolean): Call {
    const final = this.#finalCounts(wire);
    const words = this.#upTo(MAX_WORDS);
    const acts = Array.from({ length: words + this.#upTo(4) }, (_, at) =>
      this.#act(wire, final, at),
    );
    // A client knows by the last word that all before it has come.
    const last: Act = {
      word: true,
      ...(this.#chance(0.5) && { counts: this.#counts(wire, final, 1) }),
    };
    if (ending === 'whole') return { before: [...acts, last], after: [] };
    const at = this.#upTo(acts.length);
    const before = isSeen ? [...acts.slice(0, at), last] : acts.slice(0, at);
    return { before, after: ending.includes('then') ? acts.slice(at) : [] };
  }

  #act(wire: CountedWire, final: ReadonlyMap<string, number>, at: number): Act {
    const kind = this.#upTo(2);
    const counts = this.#counts(wire, final, (at + 1) / 12);
    return { ...(kind !== 1 && { word: true }), ...(kind !== 0 && { counts }) };
  }

  /** The counters of a whole answer, whose output at most the limit allows. */
  #finalCounts({ prompt, classes, output, adds_classes }: CountedWire): Map<string, number> {
    const counts = new Map<string, number>();
    for (const name of classes) counts.set(name, this.#chance(0.3) ? 0 : this.#upTo(50_000));
    const parts = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const fresh = 1 + this.#upTo(3_000);
    for (const name of prompt) counts.set(name, name === 'tools' ? this.#upTo(200) : fresh);
    if (!adds_classes) counts.set('prompt', fresh + parts);
    for (const name of output) counts.set(name, 12 + this.#upTo(30));
    return counts;
  }

  /** A report after this share of the answer, with counters that it leaves out or says to be 0. */
  #counts(
    { output }: CountedWire,
    final: ReadonlyMap<string, number>,
    share: number,
  ): Record<string, number | null> {
    const counts: Record<string, number | null> = {};
    for (const [name, count] of final) {
      const so_far = output.includes(name) ? Math.floor(count * Math.min(1, share)) : count;
      const roll = this.random();
      if (roll < 0.6) counts[name] = so_far;
      else if (roll < 0.8) counts[name] = 0;
      else if (roll < 0.85) counts[name] = null;
    }
    return counts;
  }

  #upTo(max: number): number {
    return Math.floor(this.random() * (max + 1));
  }

  #chance(share: number): boolean {
    return this.random() < share;
  }

  #one<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.random() * items.length)];
    if (item === undefined) throw new Error('There is nothing to choose from.');
    return item;
  }
}

const promptOf = (id: number): string => `story-${id}`;

/** A story while it is played. */
class Stage {
  /** Opens when the client has left, or has seen all that comes before a cut. */
  readonly go_on = gate();
  #asked = 0;

  constructor(readonly story: Story) {}

  async play(response: ServerResponse): Promise<void> {
    const { wire, ending, calls, is_one_packet } = this.story;
    const at = this.#asked;
    this.#asked += 1;
    const { before, after } = calls[at] ?? { before: [], after: [] };
    response.writeHead(200, { 'content-type': wire.content_type });
    response.flushHeaders();
    const acts = [...wire.begin(), ...before.map((act) => wire.act(act))];
    await write(response, is_one_packet ? [joined(acts)] : acts);
    if (ending === 'whole') return end(response, wire);
    if (ending === 'cut' && calls.length === 1) return void response.socket?.destroy();
    await this.go_on.promise;
    // An upstream that is aborted says no more.
    if (ending === 'left') return;
    await write(
      response,
      after.map((act) => wire.act(act)),
    );
    if (ending === 'left, then whole') return end(response, wire);
    if (at === 0) response.socket?.destroy();
  }

  /** The words that a client sees before it leaves or is cut. */
  get seen_words(): number {
    const acts = this.story.calls.flatMap(({ before }) => before);
    return acts.filter(({ word }) => word).length;
  }
}

function joined(parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

async function end(response: ServerResponse, wire: CountedWire): Promise<void> {
  await write(response, wire.end());
  response.end();
}

async function write(response: ServerResponse, parts: readonly (string | Buffer)[]): Promise<void> {
  for (const part of parts) {
    if (response.destroyed || part.length === 0) continue;
    await new Promise<void>((resolve) => {
      response.write(part, () => resolve());
    });
  }
}

onEachStore(`${STREAMS} streams that end early or late (seed ${SEED})`, (ground) => {
  const stages = new Map<number, Stage>();
  let upstream: FakeUpstream;
  let gateway: TestGateway;

  beforeEach(async () => {
    upstream = await startUpstream(async ({ body, path }: Received, response) => {
      upstream.requests.length = 0;
      const id = Number(/story-(\d+)/u.exec(body)?.[1]);
      const stage = stages.get(id);
      if (!stage) throw new Error(`Nobody has asked for ${path}.`);
      await stage.play(response);
    });
    gateway = await startGateway(countedYaml(upstream.url, 100), {
      store: ground.place.url,
      files: FILES,
      credit: '100000',
    });
  });

  afterEach(async () => {
    stages.clear();
    await gateway.close();
    await upstream.close();
  });

  /** Plays a story, and answers the reference of its charge, if it has one, and its status. */
  async function play(story: Story): Promise<{ reference: string; status: number }> {
    const stage = new Stage(story);
    stages.set(story.id, stage);
    const { wire, format, ending, calls } = story;
    const model = `${wire.name}-${ending === 'left' ? 'abort' : 'drain'}`;
    const leaving = new AbortController();
    const response = await fetch(gateway.url + format.path(model), {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(format.body(model, promptOf(story.id), calls.length)),
      signal: leaving.signal,
    });
    let text = '';
    try {
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString('latin1');
        if (ending === 'whole' || text.split(WORD).length <= stage.seen_words) continue;
        if (ending.startsWith('left')) leaving.abort();
        stage.go_on.open();
      }
    } catch {
      // It has left, or the answer of a format without a mark for its end was broken off.
    }
    stage.go_on.open();
    return { reference: response.headers.get('x-request-id') ?? '', status: response.status };
  }

  it('are charged what was reported, class by class, and only the rest is estimated', async function () {
    this.timeout(600_000 + STREAMS * 50);
    const author = new Author(seeded(SEED));
    const stories = Array.from({ length: STREAMS }, (_, id) => author.story(id));
    const played = new Map<string, Story>();
    const refused: object[] = [];
    const waiting = [...stories];
    const work = async (): Promise<void> => {
      for (let story = waiting.pop(); story; story = waiting.pop()) {
        const { reference, status } = await play(story);
        const isRefused = status !== 200 && story.due !== undefined;
        if (isRefused) refused.push({ id: story.id, status });
        played.set(reference, isRefused ? { ...story, due: undefined } : story);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    expect(played.size).to.equal(STREAMS);
    // A machine without a free core may let a connection or the store time out.
    expect(refused.length, textOf(refused)).to.be.at.most(STREAMS / 1_000);
    const { store } = gateway.gateway;
    const holds = async (): Promise<number> => {
      const [row] = await ground.place.sql('select count(*) as n from holds');
      return Number(row?.n);
    };
    await until(async () => (await holds()) === 0, 'no hold is open');
    const rows = await allChargeRows(store, gateway.account.id);
    const charges = new Map(rows.map((row) => [row.reference, row]));
    const wrong = [...played].flatMap(([reference, story]) => {
      const row = charges.get(reference);
      const counts = JSON.parse(row?.usage ?? '{}') as Partial<Due>;
      const charged = row && {
        nano: -row.amount_nano,
        prompt_tokens: counts.prompt_tokens,
        completion_tokens: counts.completion_tokens,
        cached_tokens: row.cached_tokens ?? 0,
        estimated: row.estimated,
      };
      if (textOf(charged) === textOf(story.due)) return [];
      const { id, wire, ending, calls } = story;
      return [{ id, wire: wire.name, ending, calls, due: story.due, charged }];
    });
    expect(wrong.slice(0, 3).map(textOf)).to.deep.equal([]);
    expect(charges.size).to.equal([...played.values()].filter(({ due }) => due).length);
    const { open_holds, faults } = await store.verify();
    expect({ open_holds, faults }).to.deep.equal({ open_holds: 0, faults: [] });
  });
});

function textOf(value: unknown): string {
  const text = JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'bigint' ? `${one}n` : one,
  );
  return text ?? 'nothing';
}
