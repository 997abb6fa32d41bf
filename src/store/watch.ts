/** The sign of life that a process gave last. */
interface Seen {
  id: string;
  seen_ms: bigint;
}

/**
 * Watches the other processes' signs of life by this process's own monotonic clock. A process is
 * silent once a whole lease has gone by without a new sign, during which this one looked regularly.
 * After an outage of the store, or after a pause of this process, the lease begins anew: the others
 * may have been unable to give a sign, and no clock that was set can make them look old.
 */
export class Watch {
  #last_ms: number | undefined;
  #since = new Map<string, { seen_ms: bigint; since_ms: number }>();

  constructor(private readonly lease_ms: number) {}

  /** Called only after this process has given a sign of life itself. */
  look(all: readonly Seen[], elapsed_ms: number): void {
    const isGap = this.#last_ms === undefined || elapsed_ms - this.#last_ms > this.lease_ms / 2;
    const before = isGap ? undefined : this.#since;
    this.#last_ms = elapsed_ms;
    this.#since = new Map(
      all.map(({ id, seen_ms }) => {
        const known = before?.get(id);
        const isSame = known?.seen_ms === seen_ms;
        return [id, { seen_ms, since_ms: isSame ? known.since_ms : elapsed_ms }];
      }),
    );
  }

  isSilent(id: string, elapsed_ms: number): boolean {
    const known = this.#since.get(id);
    return known !== undefined && elapsed_ms - known.since_ms > this.lease_ms;
  }
}
