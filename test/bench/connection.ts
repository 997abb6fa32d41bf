import { Buffer } from 'node:buffer';
import { connect, type Socket } from 'node:net';
import { MessageReader } from './wire.js';
import { TICK } from './wording.js';

/** Where to send and what a good answer holds. */
export interface Target {
  host: string;
  port: number;
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Text deltas that a whole answer has; 0 for a JSON answer. */
  events: number;
}

/** What a connection tells, call by call. */
export interface Seen {
  latency(ms: number): void;
  events(count: number): void;
  answer(): void;
  bad(complaint: string): void;
  /** Whether another call is wanted. */
  more(): boolean;
  /** When the next call is to be sent; in the past, where the answers are late. */
  due_ms(): number;
}

const TICK_BYTE = TICK.charCodeAt(0);
const COMPLAINT_CHARACTERS = 300;

/** One keep-alive connection that sends its next call when the last one is answered. */
export class Connection {
  readonly #reader: MessageReader;
  #socket: Socket | undefined;
  #done: () => void = () => {};
  #sent_ms = 0;
  #status = '';
  #events = 0;
  #text = '';

  constructor(
    private readonly target: Target,
    /** The bytes of a call, which all connections share. */
    private readonly request: Buffer,
    private readonly seen: Seen,
  ) {
    this.#reader = new MessageReader({
      head: (text) => this.#head(text),
      body: (bytes) => this.#body(bytes),
      end: () => this.#end(),
    });
  }

  /** Runs until no more is wanted or the connection breaks. */
  run(): Promise<void> {
    return new Promise((resolve) => {
      this.#done = resolve;
      this.#connect();
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): void {
    const { host, port } = this.target;
    const socket = connect({ host, port, noDelay: true });
    this.#socket = socket;
    socket.on('data', (data) => this.#reader.push(data));
    socket.on('error', () => {});
    socket.on('close', () => this.#closed());
    this.#next();
  }

  /** A call that was due before now counts from when it was due: clients wait for it so long. */
  #next(): void {
    this.#sent_ms = 0;
    if (!this.seen.more()) {
      this.#done();
      return;
    }
    const due_ms = this.seen.due_ms();
    const wait_ms = due_ms - performance.now();
    if (wait_ms <= 0) this.#send(due_ms);
    else setTimeout(() => this.#send(performance.now()), wait_ms);
  }

  #send(sent_ms: number): void {
    if (this.#socket?.destroyed) return;
    this.#status = '';
    this.#text = '';
    this.#events = 0;
    this.#sent_ms = sent_ms;
    this.#socket?.write(this.request);
  }

  #head(text: string): void {
    this.#status = text.slice(9, 12);
  }

  #body(bytes: Buffer): void {
    if (this.#status !== '200') this.#text += bytes.toString();
    else if (this.target.events > 0) this.#count(bytes);
  }

  #count(bytes: Buffer): void {
    let count = 0;
    for (let at = bytes.indexOf(TICK_BYTE); at !== -1; at = bytes.indexOf(TICK_BYTE, at + 1)) {
      count += 1;
    }
    if (count === 0) return;
    if (this.#events === 0) this.seen.latency(performance.now() - this.#sent_ms);
    this.#events += count;
    this.seen.events(count);
  }

  #end(): void {
    const { events } = this.target;
    if (this.#status !== '200')
      this.seen.bad(`${this.#status} ${this.#text}`.slice(0, COMPLAINT_CHARACTERS));
    else if (this.#events !== events) this.seen.bad(`${this.#events} of ${events} events came`);
    else {
      if (events === 0) this.seen.latency(performance.now() - this.#sent_ms);
      this.seen.answer();
    }
    this.#next();
  }

  /** Where a call was under way it is lost, and the run goes on without this connection. */
  #closed(): void {
    if (this.#sent_ms > 0) this.seen.bad('the connection was closed before the answer was whole');
    this.#sent_ms = 0;
    this.#done();
  }
}

export function requestOf({ host, port, path, headers, body }: Target): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n${lines.join('')}\r\n${body}`,
  );
}
