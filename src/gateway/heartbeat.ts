import type { Logger } from 'pino';
import { PriceNotes } from './price-notes.js';
import type { Settler } from '../billing/hold.js';
import type { Configuration } from '../core/configuration.js';
import { logExpired } from '../modalities/video/log-expired.js';
import type { Store } from '../store/store-types.js';
import type { ProviderHealth } from '../telemetry/provider-health.js';
import type { RecordQueue } from '../telemetry/record-queue.js';

/** How often a process writes its heartbeat, and sweeps the holds of dead processes. */
const INTERVAL_MS = 10_000;
/** The wait after a failed heartbeat: shorter, to notice soon that the store is back. */
const RETRY_MS = 1_000;

interface HeartbeatParts {
  store: Store;
  settler: Settler;
  records: RecordQueue;
  health: ProviderHealth;
  log: Logger;
  now: () => number;
  /** The configuration that serves now. */
  configuration: () => Configuration;
}

/**
 * Tells the other processes on the same store that this one lives, and how its providers do. After
 * each heartbeat that the store takes, it sweeps: it releases the holds of dead processes, and
 * deletes what has expired.
 */
export class Heartbeat {
  readonly #price_notes: PriceNotes;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #isSweeping = false;
  /** The error of the last heartbeat. It is logged once, and not at every heartbeat. */
  #fault = '';

  constructor(private readonly parts: HeartbeatParts) {
    this.#price_notes = new PriceNotes(parts.store.prices);
  }

  /** Begins with a heartbeat after `INTERVAL_MS`. */
  start(): void {
    this.#schedule(INTERVAL_MS);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(wait_ms: number): void {
    const beat = async (): Promise<void> => {
      const isStoreUp = await this.beat();
      if (this.#isStopped) return;
      this.#schedule(isStoreUp ? INTERVAL_MS : RETRY_MS);
      if (isStoreUp) void this.sweep();
    };
    this.#timer = setTimeout(() => void beat(), wait_ms);
    this.#timer.unref();
  }

  /** Writes the heartbeat of this process. Resolves with false if the store does not take it. */
  async beat(): Promise<boolean> {
    const { store, settler, health, log } = this.parts;
    try {
      await store.beat(JSON.stringify(health.report()));
      settler.wrote();
      if (this.#fault !== '') log.info('the store takes writes again');
      this.#fault = '';
      return true;
    } catch (error) {
      settler.wrote(error);
      const fault = String(error);
      if (fault !== this.#fault) log.error({ err: error }, 'the store does not take writes');
      this.#fault = fault;
      return false;
    }
  }

  /** Never rejects: a failure is logged, and the next sweep tries again. */
  async sweep(): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const { store, settler, log } = this.parts;
    const configuration = this.parts.configuration();
    const { limits } = configuration;
    try {
      // The charges of a dead process are settled before its holds are released.
      const released = (await settler.adopt()) ? await store.recover() : 0;
      if (released > 0) log.warn({ released }, 'released the holds of a process that has ended');
      const swept = await store.tasks.sweep(limits.task_ms);
      for (const one of swept) logExpired(one, log);
      await store.images.sweep();
      await store.idempotency.sweep(limits.idempotency_total_bytes);
      await store.sign_in.sweep(configuration.sign_in.session);
      await this.#sweepRequests();
      await this.#price_notes.note(configuration);
    } catch (error) {
      log.error({ err: error }, 'the store does not answer');
    } finally {
      this.#isSweeping = false;
    }
  }

  /** Deletes old records. Also adds records to the totals that a killed process did not add. */
  async #sweepRequests(): Promise<void> {
    const { store, records, now } = this.parts;
    await records.flush();
    const { keep_ms, keep_totals_ms } = this.parts.configuration().requests;
    const now_ms = now();
    const oldest = { records_ms: now_ms - keep_ms, totals_ms: now_ms - keep_totals_ms };
    await store.requests.sweep(oldest);
  }
}
