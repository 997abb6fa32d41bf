import type { Dispatcher } from 'undici';
import type { StopListener, StopSignal } from '../stop.js';
import type { Timeouts, WireAnswer } from '../types.js';
import { AnswerBody, type BodySource } from './body.js';
import { UpstreamError } from './fault.js';
import { inflate, isCompressed } from './inflate.js';

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
export class Exchange implements Dispatcher.DispatchHandler, BodySource, StopListener {
  readonly #timeouts: Timeouts;
  readonly #signal: StopSignal;
  readonly #resolve: (answer: WireAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #total: NodeJS.Timeout;
  #phase: Phase = 'connect';
  #phase_ms: number;
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #body: AnswerBody | undefined;
  #left_bytes = LEFT_BYTES;
  #over = false;

  constructor(
    timeouts: Timeouts,
    signal: StopSignal,
    resolve: (answer: WireAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#timeouts = timeouts;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#phase_ms = timeouts.connect_ms;
    this.#timer = setTimeout(expire, timeouts.connect_ms, this);
    this.#total = setTimeout(expire, timeouts.total_ms, this, 'total');
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
    if (this.#phase === 'idle') this.#timer.refresh();
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
    this.#timer.refresh();
    this.#controller.resume();
  }

  leave(): void {
    if (this.#over) return;
    this.#enter('left', LEFT_MS);
    this.#controller?.resume();
  }

  expire(phase: Phase = this.#phase): void {
    // A paused upstream is not silent: we do not listen.
    if (phase === 'idle' && this.#controller?.paused) {
      this.#timer.refresh();
      return;
    }
    const ms = phase === 'total' ? this.#timeouts.total_ms : this.#phase_ms;
    this.#fail(new UpstreamError('timeout', `${LATE[phase]} within ${ms} ms (${phase}).`));
  }

  #enter(phase: Phase, ms: number): void {
    clearTimeout(this.#timer);
    this.#phase = phase;
    this.#phase_ms = ms;
    this.#timer = setTimeout(expire, ms, this);
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#total);
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

function expire(exchange: Exchange, phase?: Phase): void {
  exchange.expire(phase);
}

function plain(raw: Headers): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in raw) {
    const value = raw[name];
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return headers;
}
