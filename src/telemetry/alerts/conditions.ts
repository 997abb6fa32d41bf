import type { AlertStore } from '../../store/alerts/alert-claims.js';
import type { AlertEvent } from './alert-events.js';

/** A condition that lasts is told again after this. */
const AGAIN_MS = 24 * 3_600_000;
/** Conditions that this process remembers; the oldest make room. */
const MOST = 10_000;

interface ConditionsOptions {
  store: AlertStore;
  now: () => number;
  tell: (event: AlertEvent) => void;
}

/**
 * Tells of a condition once, until it clears, and again after a day. The store decides among
 * several processes. While it is away each decides by itself: better one alert too many than none.
 */
export class Conditions {
  /** When each condition was told; 0 for one that is known to be over. */
  readonly #told = new Map<string, number>();
  /** One after another, as they were asked for. */
  #work: Promise<void> = Promise.resolve();

  constructor(private readonly options: ConditionsOptions) {}

  /** The names of the conditions that hold, of those that begin so. */
  holding(prefix: string): string[] {
    return [...this.#told]
      .filter(([condition, told_ms]) => told_ms > 0 && condition.startsWith(prefix))
      .map(([condition]) => condition);
  }

  /** Resolves when what was raised and cleared so far is done. */
  get settled(): Promise<void> {
    return this.#work;
  }

  raise(condition: string, event: AlertEvent): void {
    const { store, now, tell } = this.options;
    const now_ms = now();
    const told_ms = this.#told.get(condition) ?? 0;
    if (told_ms > 0 && now_ms - told_ms < AGAIN_MS) return;
    this.#remember(condition, now_ms);
    this.#work = this.#work.then(async () => {
      const isOurs = await store.claim(condition, AGAIN_MS).catch(() => true);
      if (isOurs) tell(event);
    });
  }

  clear(condition: string): void {
    if (this.#told.get(condition) === 0) return;
    this.#remember(condition, 0);
    this.#work = this.#work.then(async () => {
      // Where the store fails, the next look at the condition tries again.
      await this.options.store.clear(condition).catch(() => this.#told.delete(condition));
    });
  }

  #remember(condition: string, told_ms: number): void {
    this.#told.delete(condition);
    this.#told.set(condition, told_ms);
    const [oldest] = this.#told.keys();
    if (this.#told.size > MOST && oldest !== undefined) this.#told.delete(oldest);
  }
}
