import type { ConfigFault } from '../core/config-fault.js';

/** Gathers the faults of one load, over all its files. */
export class Report {
  readonly #faults = new Map<string, ConfigFault>();

  /** The same fault at the same place counts once: all aliases of an anchor share its text. */
  add(fault: ConfigFault): void {
    this.#faults.set([fault.file, fault.line, fault.column, fault.message].join('\n'), fault);
  }

  /** Whether a fault is an error, so that the files must not be served. */
  get failed(): boolean {
    return [...this.#faults.values()].some(({ severity }) => severity === 'error');
  }

  /**
   * Sorted by place. The faults of `first`, the operator's own file, come before those of
   * manifests.
   */
  sorted(first: string): ConfigFault[] {
    return [...this.#faults.values()].sort(
      (a, b) =>
        Number(b.file === first) - Number(a.file === first) ||
        a.file.localeCompare(b.file) ||
        a.line - b.line ||
        a.column - b.column,
    );
  }
}
