import type { Dispatcher } from 'undici';
import type { AbortListener, LightAbortSignal } from '../lib/abort.js';
import type { Timeouts, WireAnswer } from '../core/provider.js';
import { AnswerBody, type BodySource } from './answer-body.js';
import { inflate, isCompressed } from './decompress.js';
import { UpstreamError } from '../core/upstream-error.js';

type Headers = Record<string, string | string[] | undefined>;

const LATE = {
  connect: 'The upstream gave no connection',
  first_byte: 'The upstream sent no answer',
  idle: 'The upstream fell silent',
  total: 'The upstream did not finish its answer',
  left: 'The upstream did not finish an answer that no one reads on',
};
type Phase = keyof typeof LATE;

/**
 * How long, and how much, an answer may still bring after its reader has left. What follows the
 * last event of a stream is a few bytes, and waiting for them keeps the socket for the next call.
 */
const LEFT_MS = 250;
const LEFT_BYTES = 16 * 1024;

/**
 * One call on its way: hears from the dispatcher, keeps the time of each phase, and hands over the
 * answer. It ends exactly once: completed, failed, late, or aborted.
 */
export class UpstreamCall implements Dispatcher.DispatchHandler, BodySource, AbortListener {
  readonly #timeouts: Timeouts;
  readonly #signal: LightAbortSignal;
  readonly #resolve: (answer: WireAnswer) => void;
  readonly #reject: (error: unknown) => void;
  /** Times are those of `performance.now()`. */
  readonly #total_at: number;
  #phase: Phase = 'connect';
  #phase_ms: number;
  #phase_at: number;
  /** One timer serves all phases: it looks when it rings, and most calls are over before that. */
  #timer: NodeJS.Timeout;
  #rings_at: number;
  #controller: Dispatcher.DispatchController | undefined;
  #body: AnswerBody | undefined;
  #left_bytes = LEFT_BYTES;
  #over = false;

  constructor(
    timeouts: Timeouts,
    signal: LightAbortSignal,
    resolve: (answer: WireAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#timeouts = timeouts;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    const now = performance.now();
    this.#phase_ms = timeouts.connect_ms;
    this.#phase_at = now + timeouts.connect_ms;
    this.#total_at = now + timeouts.total_ms;
    this.#rings_at = Math.min(this.#phase_at, this.#total_at);
    this.#timer = setTimeout(look, this.#rings_at - now, this);
    // The exchange itself is the listener, so that a call makes no closure.
    signal.addEventListener('abort', this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // A call given up while it waited for its connection must not be sent after all.
    if (this.#over) controller.abort(new Error('The call was given up before it was sent.'));
    else this.#enter('first_byte', this.#timeouts.first_byte_ms);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, raw: Headers): void {
    // 103 and its like come before the answer.
    if (this.#over || status < 200) return;
    const body = new AnswerBody(this);
    this.#body = body;
    const headers = plain(raw);
    const encoding = headers['content-encoding'];
    this.#resolve({
      status,
      headers,
      body: isCompressed(encoding) ? inflate(body, encoding) : body,
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    if (this.#phase === 'left') {
      this.#left_bytes -= chunk.length;
      if (this.#left_bytes < 0) this.#fail(new Error('No one reads on.'));
      return;
    }
    if (this.#phase === 'idle') this.#phase_at = performance.now() + this.#phase_ms;
    else this.#enter('idle', this.#timeouts.idle_ms);
    if (this.#body && !this.#body.push(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#finish();
    this.#body?.end();
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#fail(this.#faultOf(error));
  }

  /** The signal was aborted. */
  handleEvent(): void {
    this.#fail(this.#signal.reason);
  }

  resume(): void {
    if (this.#over || !this.#controller?.paused) return;
    this.#phase_at = performance.now() + this.#phase_ms;
    this.#controller.resume();
  }

  leave(): void {
    if (this.#over) return;
    this.#enter('left', LEFT_MS);
    this.#controller?.resume();
  }

  /** Gives the call up if its time has run out; else looks again when it could have. */
  look(): void {
    const now = performance.now();
    if (now >= this.#total_at) return this.#late('total', this.#timeouts.total_ms);
    // A paused upstream is not silent: we do not listen.
    if (this.#phase === 'idle' && this.#controller?.paused) this.#phase_at = now + this.#phase_ms;
    if (now >= this.#phase_at) return this.#late(this.#phase, this.#phase_ms);
    this.#ring(now);
  }

  #late(phase: Phase, ms: number): void {
    this.#fail(new UpstreamError('timeout', `${LATE[phase]} within ${ms} ms (${phase}).`));
  }

  #enter(phase: Phase, ms: number): void {
    const now = performance.now();
    this.#phase = phase;
    this.#phase_ms = ms;
    this.#phase_at = now + ms;
    if (this.#phase_at < this.#rings_at) this.#ring(now);
  }

  #ring(now: number): void {
    clearTimeout(this.#timer);
    this.#rings_at = Math.min(this.#phase_at, this.#total_at);
    // Timers may ring up to a millisecond early, and must not ring again for that.
    this.#timer = setTimeout(look, Math.ceil(this.#rings_at - now) + 1, this);
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this);
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    this.#finish();
    if (this.#body) this.#body.fail(error);
    else this.#reject(error);
    this.#controller?.abort(error instanceof Error ? error : new Error('The call was aborted.'));
  }

  #faultOf(error: Error): UpstreamError {
    if (error instanceof UpstreamError) return error;
    const options = { cause: error };
    if (!this.#controller) {
      return new UpstreamError('unreachable', 'The upstream is unreachable.', undefined, options);
    }
    // The upstream may have done the work by now, so this is another fault than not reaching it.
    const message = this.#body
      ? "The upstream's answer was cut off."
      : 'The upstream closed the connection without an answer.';
    return new UpstreamError('broken', message, undefined, options);
  }
}

function look(exchange: UpstreamCall): void {
  exchange.look();
}

function plain(raw: Headers): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in raw) {
    const value = raw[name];
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return headers;
}
