/** A smaller difference may come from the way to the other clock and back. */
const MIN_DIFFERENCE_MS = 1_000;
/** An answer that took longer than this tells the difference too roughly. */
const MAX_WAY_MS = 500;

/**
 * The time of a clock that several machines share, such as the database's. Between two looks at
 * it, the time goes on by the monotonic clock of this process, so that setting the clock of this
 * machine changes nothing.
 */
export class SharedClock {
  #base_ms: number;
  /** The base by the last look that was quick. */
  #exact_base_ms: number;

  /** `own_ms` counts until the first look. */
  constructor(
    own_ms: number,
    private readonly elapsed_ms = () => performance.now(),
  ) {
    this.#base_ms = own_ms - elapsed_ms();
    this.#exact_base_ms = this.#base_ms;
  }

  readonly now = (): number => Math.round(this.#base_ms + this.elapsed_ms());

  /** How far a clock that shows `own_ms` now is ahead of the other one. */
  offsetOf(own_ms: number): number {
    return Math.round(own_ms - this.#exact_base_ms - this.elapsed_ms());
  }

  /** Looks at the other clock, and takes its time if it differs. Rejects as `read` does. */
  async look(read: () => Promise<number>): Promise<void> {
    const before_ms = this.elapsed_ms();
    const shared_ms = await read();
    const after_ms = this.elapsed_ms();
    const base_ms = shared_ms - (before_ms + after_ms) / 2;
    if (after_ms - before_ms <= MAX_WAY_MS) this.#exact_base_ms = base_ms;
    if (Math.abs(base_ms - this.#base_ms) >= MIN_DIFFERENCE_MS) this.#base_ms = base_ms;
  }
}
