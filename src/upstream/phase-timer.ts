import type { Timeouts } from '../core/provider.js';
import { UpstreamError, type Reached } from '../core/upstream-error.js';

/** The phases of an upstream call, and the message of an error when a phase took too long. */
const TOO_LONG = {
  connect: 'The upstream gave no connection',
  first_byte: 'The upstream sent no answer',
  idle: 'The upstream fell silent',
  total: 'The upstream did not finish its answer',
  abandoned: 'The upstream did not finish an answer that the gateway stopped reading',
};
export type Phase = keyof typeof TOO_LONG;

/** How far a call has come in each phase. `total` is no phase that a call enters. */
const REACHED: Readonly<Record<Phase, Reached>> = {
  connect: 'nothing',
  first_byte: 'upstream',
  idle: 'answer',
  total: 'answer',
  abandoned: 'answer',
};

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
    const message = `${TOO_LONG[phase]} within ${ms} ms (${phase}).`;
    const reached = REACHED[this.#phase];
    this.#call.fail(new UpstreamError('timeout', message, undefined, { reached }));
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
