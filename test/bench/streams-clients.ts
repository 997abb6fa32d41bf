import { Buffer } from 'node:buffer';
import { connect, type Socket } from 'node:net';
import { StreamTexts, callBody, turnBody } from './streams-wording.js';
import { MessageReader } from './wire.js';

/** What the clients of one process do, all at once and until the time is over. */
export interface ClientsOrder {
  port: number;
  secret: string;
  seconds: number;
  /** Streams that are open at once; one that ends is followed by another. */
  streams: number;
  gap_ms: number;
  /** The shortest and the longest stream. */
  stream_s: readonly [number, number];
  /** Of a request that asks for a stream. */
  body_bytes: number;
  /** Calls without a stream, at a pace. */
  plain_per_second: number;
  /** A client for each, which sends a body of so many bytes over and over. */
  turn_bytes: readonly number[];
}

/** What they have seen since they last told it. */
export interface ClientsReport {
  is_last: boolean;
  open: number;
  /** Whole answers. */
  streams: number;
  plain: number;
  turns: number;
  complaints: readonly string[];
  /** From an event's start at the upstream to its end at the client. */
  event_ms: readonly number[];
  plain_ms: readonly number[];
  turn_ms: readonly number[];
}

const REPORT_MS = 10_000;
const PLAIN: Parameters<typeof callBody>[0] = { events: 0, gap_ms: 0 };
const COMPLAINT_CHARACTERS = 300;
const CLOSED = 'the connection was closed before an answer';

/** One connection, which is opened again where it was closed. */
class Caller {
  readonly #reader: MessageReader;
  #socket: Socket | undefined;
  #status = '';
  #text: string[] = [];
  #data: ((text: string) => void) | undefined;
  #end: ((fault?: string) => void) | undefined;

  constructor(
    private readonly port: number,
    private readonly secret: string,
  ) {
    this.#reader = new MessageReader({
      head: (text) => {
        this.#status = text.slice(9, 12);
        this.#text = [];
      },
      body: (bytes) => {
        if (this.#status === '200' && this.#data) this.#data(bytes.toString());
        else this.#text.push(bytes.toString());
      },
      end: () => {
        const isGood = this.#status === '200';
        this.#end?.(isGood ? undefined : `${this.#status} ${this.#text.join('')}`);
      },
    });
  }

  /** Resolves with what was wrong, if anything was. */
  async call(body: Buffer, data?: (text: string) => void): Promise<string | undefined> {
    const isReused = this.#socket !== undefined;
    const fault = await this.#send(body, data);
    // As all clients do: the gateway may close a connection that was idle while a call is sent.
    return fault === CLOSED && isReused ? this.#send(body, data) : fault;
  }

  close(): void {
    this.#socket?.destroy();
  }

  async #send(body: Buffer, data?: (text: string) => void): Promise<string | undefined> {
    this.#data = data;
    this.#status = '';
    const ended = new Promise<string | undefined>((resolve) => (this.#end = resolve));
    this.#socket ??= this.#connect();
    const head =
      `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${this.port}\r\n` +
      `content-type: application/json\r\nauthorization: Bearer ${this.secret}\r\n` +
      `content-length: ${body.length}\r\n\r\n`;
    this.#socket.cork();
    this.#socket.write(head);
    this.#socket.write(body);
    this.#socket.uncork();
    const fault = await ended;
    this.#end = undefined;
    return fault?.slice(0, COMPLAINT_CHARACTERS);
  }

  #connect(): Socket {
    const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true });
    socket.on('data', (data) => this.#reader.push(data));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#socket = undefined;
      this.#end?.(this.#status === '' ? CLOSED : 'the answer was cut off');
    });
    return socket;
  }
}

class Clients {
  #seen = this.#nothing();
  #open = 0;
  #isOver = false;

  constructor(private readonly order: ClientsOrder) {}

  async run(): Promise<void> {
    const { order } = this;
    setTimeout(() => (this.#isOver = true), order.seconds * 1_000);
    const telling = setInterval(() => this.#tell(false), REPORT_MS);
    const { streams, turn_bytes, plain_per_second } = order;
    await Promise.all([
      ...Array.from({ length: streams }, (_, at) => this.#stream(at)),
      ...turn_bytes.map((bytes) => this.#turns(bytes)),
      plain_per_second > 0 && this.#plain(),
    ]);
    clearInterval(telling);
    this.#tell(true);
  }

  /** The first ones are shorter, so that they do not all end at once for ever after. */
  async #stream(at: number): Promise<void> {
    const { streams, gap_ms, stream_s, body_bytes } = this.order;
    const [least_s, most_s] = stream_s;
    await pause((gap_ms * RAMP_GAPS * at) / streams);
    const caller = this.#caller();
    for (let turn = 0; !this.#isOver; turn += 1) {
      const share = turn === 0 ? (at + 1) / streams : 1;
      const seconds = share * (least_s + Math.random() * (most_s - least_s));
      const events = Math.max(1, Math.round((seconds * 1_000) / gap_ms));
      const body = Buffer.from(callBody({ events, gap_ms }, body_bytes));
      this.#open += 1;
      const fault = await readStream(caller, body, (ms) => this.#seen.event_ms.push(ms));
      this.#open -= 1;
      if (fault === undefined) this.#seen.streams += 1;
      else await this.#complain(`a stream: ${fault}`);
    }
    caller.close();
  }

  async #turns(bytes: number): Promise<void> {
    const caller = this.#caller();
    const body = Buffer.from(turnBody(bytes));
    while (!this.#isOver) {
      const begun_ms = performance.now();
      const fault = await caller.call(body);
      if (fault === undefined) {
        this.#seen.turns += 1;
        this.#seen.turn_ms.push(performance.now() - begun_ms);
      } else await this.#complain(`a turn: ${fault}`);
    }
    caller.close();
  }

  async #plain(): Promise<void> {
    const callers: Caller[] = [];
    const body = Buffer.from(callBody(PLAIN, 512));
    const running = new Set<Promise<void>>();
    while (!this.#isOver) {
      const caller = callers.pop() ?? this.#caller();
      const ended = this.#plainCall(caller, body).then(() => {
        callers.push(caller);
        running.delete(ended);
      });
      running.add(ended);
      await pause(1_000 / this.order.plain_per_second);
    }
    await Promise.all(running);
    for (const caller of callers) caller.close();
  }

  async #plainCall(caller: Caller, body: Buffer): Promise<void> {
    const begun_ms = performance.now();
    const fault = await caller.call(body);
    if (fault !== undefined) return this.#complain(`a plain call: ${fault}`);
    this.#seen.plain += 1;
    this.#seen.plain_ms.push(performance.now() - begun_ms);
  }

  #caller(): Caller {
    return new Caller(this.order.port, this.order.secret);
  }

  /** Waits, as a client does that is refused. */
  async #complain(complaint: string): Promise<void> {
    this.#seen.complaints.push(complaint);
    await pause(1_000);
  }

  #tell(is_last: boolean): void {
    const report: ClientsReport = { ...this.#seen, is_last, open: this.#open };
    this.#seen = this.#nothing();
    process.send?.(report);
  }

  #nothing() {
    const [complaints, event_ms, plain_ms, turn_ms]: [string[], number[], number[], number[]] = [
      [],
      [],
      [],
      [],
    ];
    return { streams: 0, plain: 0, turns: 0, complaints, event_ms, plain_ms, turn_ms };
  }
}

/** All streams begin within so many gaps. */
const RAMP_GAPS = 10;

/** Resolves with what was wrong with the stream, if anything was. */
async function readStream(
  caller: Caller,
  body: Buffer,
  delay: (ms: number) => void,
): Promise<string | undefined> {
  const texts = new StreamTexts();
  let [rest, isWhole, isDone] = ['', false, false];
  const take = (block: string): void => {
    if (!block.startsWith('data: ')) return;
    if (block === 'data: [DONE]') {
      isDone = true;
      return;
    }
    const content = contentOf(JSON.parse(block.slice('data: '.length)));
    if (!content) return;
    const ms = texts.take(content);
    if (ms === undefined) isWhole = true;
    else delay(ms);
  };
  let broken: string | undefined;
  const fault = await caller.call(body, (text) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    try {
      for (const block of blocks) take(block);
    } catch (error) {
      broken ??= String(error);
    }
  });
  return fault ?? broken ?? (isWhole && isDone ? undefined : 'it ended before it was whole');
}

function contentOf(chunk: unknown): string | undefined {
  const { choices } = chunk as { choices: { delta: { content?: string } }[] };
  return choices[0]?.delta.content;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

process.on('message', (order: ClientsOrder) => void new Clients(order).run());
process.on('disconnect', () => process.exit());
process.send?.({ port: 0 });
