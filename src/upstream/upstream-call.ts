import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { type AbortListener, type LightAbortSignal, inNextTurn } from '../lib/concurrency.js';
import type { Timeouts, WireAnswer } from '../core/provider.js';
import { AnswerBody, type BodySource } from './answer-body.js';
import { UpstreamError } from '../core/upstream-error.js';
import { ClientDisconnected, isStop } from '../core/errors.js';
import { connectionError } from './connection-error.js';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

type Headers = Record<string, string | string[] | undefined>;

/**
 * The time and the bytes in which an answer must end after its reader has stopped. A few bytes
 * follow the last event of a stream. Reading them keeps the socket for the next call.
 */
const ABANDONED_MS = 250;
const ABANDONED_BYTES = 16 * 1024;

/**
 * One call to an upstream. It handles the events of undici's dispatcher, times each phase, and
 * returns the answer. It ends exactly once: completed, failed, timed out, or aborted.
 */
export class UpstreamCall
  implements Dispatcher.DispatchHandler, BodySource, AbortListener, TimedCall
{
  readonly #timeouts: Timeouts;
  readonly #signal: LightAbortSignal;
  readonly #resolve: (answer: WireAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #ended: () => void;
  readonly #timer: PhaseTimer;
  #controller: Dispatcher.DispatchController | undefined;
  #body: AnswerBody | undefined;
  #abandoned_bytes = ABANDONED_BYTES;
  #hasEnded = false;

  constructor(
    timeouts: Timeouts,
    signal: LightAbortSignal,
    resolve: (answer: WireAnswer) => void,
    reject: (error: unknown) => void,
    ended: () => void,
  ) {
    this.#ended = ended;
    this.#timeouts = timeouts;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = new PhaseTimer(timeouts, this);
    // The call itself is the listener, which saves a closure.
    signal.addEventListener('abort', this);
  }

  get isPaused(): boolean {
    return this.#controller?.paused === true;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // A call that ended while it waited for its connection must not be sent.
    if (this.#hasEnded) controller.abort(new Error('The call ended before it was sent.'));
    else this.#timer.enter('first_byte', this.#timeouts.first_byte_ms);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, raw: Headers): void {
    // Interim answers such as 103 come before the answer.
    if (this.#hasEnded || status < 200) return;
    const body = new AnswerBody(this);
    this.#body = body;
    const headers = joinHeaders(raw);
    const encoding = headers['content-encoding'];
    const answer = {
      status,
      headers,
      body: isCompressed(encoding) ? inflate(body, encoding) : body,
      liftTotal: () => this.#timer.liftTotal(),
    };
    inNextTurn(() => this.#resolve(answer));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#hasEnded) return;
    const { phase } = this.#timer;
    if (phase === 'abandoned') {
      this.#abandoned_bytes -= chunk.length;
      if (this.#abandoned_bytes < 0) this.fail(new Error('The gateway stopped reading.'));
      return;
    }
    if (phase === 'idle') this.#timer.restart();
    else this.#timer.enter('idle', this.#timeouts.idle_ms);
    if (this.#body && !this.#body.push(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#end();
    this.#body?.end();
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    const reached = this.#controller ? (this.#body ? 'answer' : 'upstream') : 'nothing';
    this.fail(connectionError(error, reached));
  }

  /** Called when the signal is aborted. */
  handleEvent(): void {
    this.fail(this.#controller ? this.#signal.reason : unsent(this.#signal.reason));
  }

  resume(): void {
    if (this.#hasEnded || !this.#controller?.paused) return;
    this.#timer.restart();
    this.#controller.resume();
  }

  abandon(): void {
    if (this.#hasEnded) return;
    this.#timer.enter('abandoned', ABANDONED_MS);
    this.#controller?.resume();
  }

  /** Ends the call with an error, and closes its connection. */
  fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#end();
    if (this.#body) this.#body.fail(error);
    else this.#reject(error);
    this.#controller?.abort(error instanceof Error ? error : new Error('The call was aborted.'));
  }

  #end(): void {
    this.#hasEnded = true;
    this.#ended();
    this.#timer.stop();
    this.#signal.removeEventListener('abort', this);
  }
}

/** The reason for which a call ended that was not sent. */
export function unsent(reason: unknown): unknown {
  return reason instanceof ClientDisconnected ? new ClientDisconnected(true) : reason;
}

/** The phases of an upstream call, and the message of an error when a phase took too long. */
const TOO_LONG = {
  connect: 'The upstream gave no connection',
  first_byte: 'The upstream sent no answer',
  idle: 'The upstream fell silent',
  total: 'The upstream did not finish its answer',
  abandoned: 'The upstream did not finish an answer that the gateway stopped reading',
};
export type Phase = keyof typeof TOO_LONG;

/** A call whose phases are timed. */
export interface TimedCall {
  /**
   * Whether the gateway does not read at the moment, so that the upstream's silence does not count.
   */
  readonly isPaused: boolean;
  /** Ends the call. */
  fail(error: UpstreamError): void;
}

/**
 * Times the phases of one call, and fails the call when a phase or the whole takes too long. All
 * phases share one timer. Most calls end before it fires, so a phase does not move it.
 */
export class PhaseTimer {
  readonly #call: TimedCall;
  readonly #total_ms: number;
  /** Times are those of `performance.now()`. */
  #total_at: number;
  #phase: Phase = 'connect';
  #phase_ms: number;
  #phase_at: number;
  #fires_at: number;
  #timer: NodeJS.Timeout;

  /** Begins with the phase `connect`. */
  constructor({ connect_ms, total_ms }: Timeouts, call: TimedCall) {
    this.#call = call;
    this.#total_ms = total_ms;
    const now = performance.now();
    this.#phase_ms = connect_ms;
    this.#phase_at = now + connect_ms;
    this.#total_at = now + total_ms;
    this.#fires_at = Math.min(this.#phase_at, this.#total_at);
    this.#timer = setTimeout(check, this.#fires_at - now, this);
  }

  get phase(): Phase {
    return this.#phase;
  }

  enter(phase: Phase, ms: number): void {
    const now = performance.now();
    this.#phase = phase;
    this.#phase_ms = ms;
    this.#phase_at = now + ms;
    if (this.#phase_at < this.#fires_at) this.#setTimer(now);
  }

  /** Begins the time of the phase anew. */
  restart(): void {
    this.#phase_at = performance.now() + this.#phase_ms;
  }

  /** Limits the call by its phases alone. */
  liftTotal(): void {
    this.#total_at = Infinity;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Fails the call if its time has run out, or else sets the timer again. */
  check(): void {
    const now = performance.now();
    if (now >= this.#total_at) return this.#fail('total', this.#total_ms);
    if (this.#phase === 'idle' && this.#call.isPaused) this.#phase_at = now + this.#phase_ms;
    if (now >= this.#phase_at) return this.#fail(this.#phase, this.#phase_ms);
    this.#setTimer(now);
  }

  #fail(phase: Phase, ms: number): void {
    this.#call.fail(new UpstreamError('timeout', `${TOO_LONG[phase]} within ${ms} ms (${phase}).`));
  }

  #setTimer(now: number): void {
    clearTimeout(this.#timer);
    this.#fires_at = Math.min(this.#phase_at, this.#total_at);
    // A timer may fire up to a millisecond early, and must not be set again for that.
    this.#timer = setTimeout(check, Math.ceil(this.#fires_at - now) + 1, this);
  }
}

function check(timer: PhaseTimer): void {
  timer.check();
}

type RawHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The headers of an answer, each as one text. */
export function joinHeaders(raw: RawHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in raw) {
    const value = raw[name];
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return headers;
}

const INFLATERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

export function isCompressed(encoding: string | undefined): encoding is string {
  return encoding !== undefined && INFLATERS.has(encoding.toLowerCase());
}

/**
 * Decompresses a body, for upstreams that compress although the gateway asks them not to. It
 * inflates only as fast as its reader reads, so the reader's limit stops a decompression bomb.
 * Throws `UpstreamError` for a body that is cut off or in another encoding.
 */
export async function* inflate(
  body: AsyncIterable<Buffer>,
  encoding: string,
): AsyncGenerator<Buffer, undefined> {
  const create = INFLATERS.get(encoding.toLowerCase());
  if (!create) throw new UpstreamError('broken', 'The upstream used an unknown compression.');
  const inflater = create();
  // The iteration below reports every error of this pipeline.
  pipeline(body, inflater, () => undefined);
  try {
    for await (const chunk of inflater) yield chunk;
  } catch (error) {
    if (error instanceof UpstreamError || isStop(error)) throw error;
    const message = "The upstream's compressed answer cannot be read.";
    throw new UpstreamError('broken', message, undefined, { cause: error });
  }
}

/** Reads packets into `memory`, and gives a copy of each to the socket. */
export function packetsIn(memory: Buffer) {
  const socket: { is?: Socket } = {};
  const callback = (bytes: number): boolean => {
    const packet = Buffer.allocUnsafe(bytes);
    memory.copy(packet, 0, 0, bytes);
    return socket.is?.push(packet) ?? true;
  };
  return { socket, onread: { buffer: memory, callback } };
}
