import type { AlertStore } from '../../store/alerts/alert-claims.js';
import type { AlertEvent } from './alert-events.js';

/** The time after which a condition that lasts is alerted again. */
const REPEAT_MS = 24 * 3_600_000;
/** The maximum of conditions that this process remembers. The oldest are forgotten first. */
const MAX_CONDITIONS = 10_000;

interface ConditionsOptions {
  store: AlertStore;
  now: () => number;
  /** Sends the alert of a condition. */
  alert: (event: AlertEvent) => void;
}

/**
 * Sends one alert for each condition until it clears, and another one after a day. The store
 * decides which of several processes sends it. If the store is away each process sends it: an alert
 * too many is better than none.
 */
export class Conditions {
  /** When each condition was alerted, in ms since 1970; 0 for a condition that has cleared. */
  readonly #alerted_ms = new Map<string, number>();
  /** The pending writes to the store, in order. */
  #work: Promise<void> = Promise.resolve();

  constructor(private readonly options: ConditionsOptions) {}

  /** The names of the active conditions that begin with `prefix`. */
  holding(prefix: string): string[] {
    return [...this.#alerted_ms]
      .filter(([condition, alerted_ms]) => alerted_ms > 0 && condition.startsWith(prefix))
      .map(([condition]) => condition);
  }

  /** Resolves when all earlier calls of `raise` and `clear` have taken effect. */
  get settled(): Promise<void> {
    return this.#work;
  }

  raise(condition: string, event: AlertEvent): void {
    const { store, now, alert } = this.options;
    const now_ms = now();
    const alerted_ms = this.#alerted_ms.get(condition) ?? 0;
    if (alerted_ms > 0 && now_ms - alerted_ms < REPEAT_MS) return;
    this.#remember(condition, now_ms);
    this.#work = this.#work.then(async () => {
      const isOurs = await store.claim(condition, REPEAT_MS).catch(() => true);
      if (isOurs) alert(event);
    });
  }

  clear(condition: string): void {
    if (this.#alerted_ms.get(condition) === 0) return;
    this.#remember(condition, 0);
    this.#work = this.#work.then(async () => {
      // After a failure of the store, the next `clear` tries again.
      await this.options.store.clear(condition).catch(() => this.#alerted_ms.delete(condition));
    });
  }

  #remember(condition: string, alerted_ms: number): void {
    this.#alerted_ms.delete(condition);
    this.#alerted_ms.set(condition, alerted_ms);
    const [oldest] = this.#alerted_ms.keys();
    if (this.#alerted_ms.size > MAX_CONDITIONS && oldest !== undefined)
      this.#alerted_ms.delete(oldest);
  }
}
