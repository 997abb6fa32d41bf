import { expect } from 'chai';
import { WebSocket } from 'ws';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { idIn, openSocket, type Frame, type SocketClient } from '../helpers/socket-client.js';
import { play, sse, startUpstream, type FakeUpstream } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';
import { delta, gate } from './helpers/disconnecting.js';

const TURNS = 30;
const KILLED = new Set([4, 9, 14, 19]);
const CANCELLED = new Set([6, 16]);
const REVOKED = 22;
const POOR = 25;
/** Nano-dollars a token. */
const PRICE = { input: 1_000n, output: 2_000n };
/** A turn has 600 characters, so that a socket of 2 kB forgets after three. */
const WORDS = 'x'.repeat(600);

/** What is due for the answers of an upstream that tells its usage at the end of each. */
class Upstream {
  readonly due: bigint[] = [];
  /** Opens the way for answers whose prompt ends with WAIT, after their first word. */
  hold = gate();
  fake!: FakeUpstream;

  async start(): Promise<this> {
    this.fake = await startUpstream(async ({ json }, response) => {
      const { messages } = json as { messages: { content: string }[] };
      const count = this.due.length;
      const usage = { prompt_tokens: 100 + count, completion_tokens: 10 + count };
      this.due.push(
        BigInt(usage.prompt_tokens) * PRICE.input + BigInt(usage.completion_tokens) * PRICE.output,
      );
      const waits = messages.at(-1)?.content.endsWith('WAIT') === true;
      const step = sse([
        delta('one'),
        ...(waits ? [this.hold.promise] : []),
        delta(' two'),
        { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        { choices: [], usage },
        'data: [DONE]\n\n',
      ]);
      await play(step, response);
    });
    return this;
  }
}

const ENDS = new Set(['response.completed', 'response.failed']);
const isOutput = ({ type }: Frame): boolean => type === 'response.output_text.delta';

/** A client that goes on as codex does: what a socket does not remember is sent again. */
class Agent {
  #items: unknown[] = [];
  #previous: string | undefined;
  #socket: SocketClient | undefined;
  forgotten = 0;

  constructor(
    readonly url: string,
    public secret: string,
  ) {}

  async socket(): Promise<SocketClient> {
    if (this.#socket?.ws.readyState !== WebSocket.OPEN) this.#socket = await openSocket(this);
    return this.#socket as SocketClient;
  }

  frameOf(text: string): object {
    const item = { role: 'user', content: text };
    const continued = this.#previous !== undefined;
    return {
      model: 'talk',
      store: false,
      input: continued ? [item] : [...this.#items, item],
      ...(continued && { previous_response_id: this.#previous }),
    };
  }

  /** Sends a turn, and again where the socket has forgotten what it continues, until it says so. */
  async begin(text: string, until: (frame: Frame) => boolean): Promise<Frame> {
    const socket = await this.socket();
    socket.frames.length = 0;
    socket.create(this.frameOf(text));
    const found = await socket.next((frame) => frame.type === 'error' || until(frame));
    const { code } = (found.error ?? {}) as { code?: string };
    if (code !== 'previous_response_not_found') return found;
    this.forgotten += 1;
    this.#previous = undefined;
    // As after a compaction: the whole conversation would be forgotten each time.
    this.#items = this.#items.slice(-2);
    return this.begin(text, until);
  }

  async turn(text: string): Promise<Frame> {
    const end = await this.begin(text, ({ type }) => ENDS.has(type));
    if (end.type !== 'response.completed') return end;
    const { output } = end.response as { output: unknown[] };
    this.#items.push({ role: 'user', content: text }, ...output);
    this.#previous = idIn(end);
    return end;
  }
}

onEachStore(`a WebSocket session of ${TURNS} turns`, (ground) => {
  let upstream: Upstream;
  let house: TestGateway;
  let agent: Agent;

  beforeEach(async () => {
    ground.now_ms = Date.now();
    upstream = await new Upstream().start();
    house = await startGateway(
      `owners: { acme: { name: Acme } }
limits: { socket_bytes: 2kb }
providers: { up: { uses: openai, base_url: '${upstream.fake.url}', api_key: sk, on_abort: drain } }
models:
  talk: { owner: acme, capabilities: [chat], upstreams: [{ provider: up }], limits: { max_tokens: 1000 }, price: { input_per_million: 1, output_per_million: 2 } }
`,
      { store: ground.place.url, credit: '1' },
    );
    agent = new Agent(house.url, house.secret);
  });
  afterEach(() => upstream.fake.close());

  async function leave(turn: number, how: (socket: SocketClient) => void): Promise<void> {
    upstream.hold = gate();
    await agent.begin(`Turn ${turn} ${WORDS} WAIT`, isOutput);
    how(await agent.socket());
    upstream.hold.open();
  }

  it('charges exactly what came out, whatever happens between the turns', async () => {
    const { store } = house.gateway;
    for (let turn = 0; turn < TURNS; turn += 1) {
      if (KILLED.has(turn)) await leave(turn, ({ ws }) => ws.terminate());
      else if (CANCELLED.has(turn)) {
        await leave(turn, ({ ws }) => ws.send('{"type":"response.cancel"}'));
        const socket = await agent.socket();
        await socket.next(({ type }) => type === 'response.cancelled');
      } else if (turn === REVOKED) {
        const socket = await agent.socket();
        await store.revokeKey(house.key_id);
        const refused = await agent.turn(`Turn ${turn}`);
        expect(refused).to.include({ type: 'error', status: 401 });
        expect(await socket.closed).to.equal(1008);
        agent.secret = (await store.createKey(house.account.id, 'next')).secret;
      } else if (turn === POOR) {
        const poor = await store.createAccount('poor', 0n);
        const socket = await openSocket({
          ...house,
          secret: (await store.createKey(poor.id, 'k')).secret,
        });
        const failed = await socket.turn({ model: 'talk', input: 'Turn' });
        expect(failed).to.have.nested.property('response.error.code', 'insufficient_quota');
        await store.credit(poor.id, 1_000_000_000n, 'paid');
        socket.create({ model: 'talk', input: 'Turn' });
        await socket.next(({ type }) => type === 'response.completed');
        socket.ws.close();
      } else {
        expect((await agent.turn(`Turn ${turn} ${WORDS}`)).type).to.equal('response.completed');
      }
    }
    expect(agent.forgotten).to.be.greaterThan(TURNS / 6);

    // A drain lets the turn that runs come to its end.
    upstream.hold = gate();
    await agent.begin('The last one WAIT', isOutput);
    const socket = await agent.socket();
    const stopped = house.gateway.stop();
    socket.create({ model: 'talk', input: 'One too many', stream_id: 'other' });
    await socket.next(({ stream_id }) => stream_id === 'other');
    upstream.hold.open();
    await socket.next(({ type }) => type === 'response.completed');
    expect(await socket.closed).to.equal(1012);
    expect(await stopped).to.equal(true);

    const books = await ground.open();
    const rows = await Promise.all(
      (await books.accounts()).map(({ id }) => books.ledger(id, { limit: 1_000 })),
    );
    const charged = rows.flat().filter(({ kind }) => kind === 'charge');
    const sorted = (all: readonly bigint[]): bigint[] => all.toSorted((a, b) => Number(a - b));
    expect(sorted(charged.map(({ amount_nano }) => -amount_nano))).to.deep.equal(
      sorted(upstream.due),
    );
    expect(charged.filter(({ estimated }) => estimated)).to.deep.equal([]);
    expect(await books.verify()).to.deep.include({ faults: [] });
  });
});
