import type { ConfigFault, Place } from '../core/config-fault.js';

/** Collects the faults of one load, over all its files. */
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

  /** The faults so far, in the order of a listing. */
  sorted(first: string): ConfigFault[] {
    return sortFaults([...this.#faults.values()], first);
  }
}

/** Sorts by place. The faults of `first`, the operator's own file, come before those of others. */
export function sortFaults(faults: readonly ConfigFault[], first: string): ConfigFault[] {
  return faults.toSorted(
    (a, b) => Number(b.file === first) - Number(a.file === first) || byPlace(a, b),
  );
}

/** By file, in the order of characters on every machine, then by line. 0 for the same place. */
export function byPlace(a: Place, b: Place): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}
