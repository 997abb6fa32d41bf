import type { Dispatcher } from 'undici';
import type { AbortListener, LightAbortSignal } from '../lib/light-abort.js';
import { inNextTurn } from '../lib/event-loop-turns.js';
import type { Timeouts, WireReply } from '../core/provider.js';
import { ReplyBody, type BodySource } from './reply-body.js';
import { ClientDisconnected } from '../core/errors.js';
import { connectionError } from './connection-error.js';
import { type TimedCall, PhaseTimer } from './phase-timer.js';
import { joinHeaders } from './response-headers.js';
import { isCompressed, inflate } from './inflate-body.js';

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
  readonly #resolve: (reply: WireReply) => void;
  readonly #reject: (error: unknown) => void;
  readonly #ended: () => void;
  readonly #timer: PhaseTimer;
  #controller: Dispatcher.DispatchController | undefined;
  #body: ReplyBody | undefined;
  #abandoned_bytes = ABANDONED_BYTES;
  #hasEnded = false;

  constructor(
    timeouts: Timeouts,
    signal: LightAbortSignal,
    resolve: (reply: WireReply) => void,
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
    const body = new ReplyBody(this);
    this.#body = body;
    const headers = joinHeaders(raw);
    const encoding = headers['content-encoding'];
    const reply = {
      status,
      headers,
      body: isCompressed(encoding) ? inflate(body, encoding) : body,
      liftTotal: () => this.#timer.liftTotal(),
    };
    inNextTurn(() => this.#resolve(reply));
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
