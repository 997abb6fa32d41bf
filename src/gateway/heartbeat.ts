import type { Logger } from 'pino';
import type { BoxWatch } from './box-watch.js';
import { PriceNotes } from './price-notes.js';
import type { ChargeWriter } from '../billing/charge-writer.js';
import type { Configuration } from '../core/configuration.js';
import { logExpired } from '../modalities/video/log-expired.js';
import type { SharedClock } from '../lib/shared-clock.js';
import { withTimeout } from '../lib/with-timeout.js';
import type { Store } from '../store/store-types.js';
import { HEARTBEAT_MS } from '../telemetry/boxes.js';
import type { ProviderHealth } from '../telemetry/provider-health.js';
import type { UpstreamRests } from '../pipeline/upstream-rests.js';
import type { RecordQueue } from '../telemetry/record-queue.js';

/** The wait after a failed heartbeat: shorter, to notice soon that the store is back. */
const RETRY_MS = 1_000;
/** How long the end of the process waits for a heartbeat or sweep that runs. */
const STOP_MS = 2_000;

interface HeartbeatParts {
  store: Store;
  charge_writer: ChargeWriter;
  records: RecordQueue;
  health: ProviderHealth;
  rests: UpstreamRests;
  /** Says how this process is, and looks at the others. */
  boxes: BoxWatch;
  log: Logger;
  now: () => number;
  /** Looks at the store's clock with each heartbeat. */
  clock?: SharedClock | undefined;
  /** The configuration that serves now. */
  configuration: () => Configuration;
  /** Called once a newer version has migrated the store so that this one may not serve it. */
  onOutdated: (fault: string) => void;
}

/**
 * Tells the other processes on the same store that this one lives, and how its providers do. After
 * each heartbeat that the store takes, it sweeps: it releases the holds of dead processes, and
 * deletes what has expired.
 */
export class Heartbeat {
  readonly #price_notes: PriceNotes;
  #timer: NodeJS.Timeout | undefined;
  readonly #stopped = new AbortController();
  /** The heartbeat that runs or ran last. */
  #beating: Promise<boolean> | undefined;
  /** The one that says that this process stops. */
  #last: Promise<boolean> | undefined;
  /** The sweep that runs. */
  #sweeping: Promise<void> | undefined;
  /** The error of the last heartbeat. It is logged once, and not at every heartbeat. */
  #fault = '';

  constructor(private readonly parts: HeartbeatParts) {
    this.#price_notes = new PriceNotes(parts.store.prices);
  }

  /**
   * Writes the first heartbeat, and releases the holds of dead processes and expired tasks: their
   * accounts have their credit from the first call on. Records are swept beside the calls.
   */
  async open(): Promise<void> {
    if (!(await this.beat())) return;
    await this.#logged(() => this.#sweepHolds());
    void this.sweep();
  }

  /** Begins with a heartbeat after `HEARTBEAT_MS`. */
  start(): void {
    this.#schedule(HEARTBEAT_MS);
  }

  /** Says at once that this process stops. */
  sayLeaving(): void {
    this.#last = this.beat();
  }

  /** Resolves when nothing of it uses the store any more, or after `STOP_MS`. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    clearTimeout(this.#timer);
    await withTimeout(Promise.all([this.#beating, this.#last, this.#sweeping]), STOP_MS);
  }

  #schedule(wait_ms: number): void {
    const beat = async (): Promise<void> => {
      this.#beating = this.beat();
      const isStoreUp = await this.#beating;
      if (this.#stopped.signal.aborted) return;
      this.#schedule(isStoreUp ? HEARTBEAT_MS : RETRY_MS);
      if (isStoreUp) void this.sweep();
    };
    this.#timer = setTimeout(() => void beat(), wait_ms);
    this.#timer.unref();
  }

  /** Writes the heartbeat of this process. Resolves with false if the store does not take it. */
  async beat(): Promise<boolean> {
    const { store, charge_writer, health, rests, boxes, log, clock } = this.parts;
    try {
      await clock?.look(() => store.clock());
      await store.heartbeat(JSON.stringify(health.report()), boxes.report());
      charge_writer.wrote();
      await rests.sync();
      await boxes.look();
      const outdated = await store.outdated();
      if (outdated !== undefined) this.parts.onOutdated(outdated);
      if (this.#fault !== '') log.info('the store takes writes again');
      this.#fault = '';
      return true;
    } catch (error) {
      charge_writer.wrote(error);
      const fault = String(error);
      if (fault !== this.#fault) log.error({ err: error }, 'the store does not take writes');
      this.#fault = fault;
      return false;
    }
  }

  /** Never rejects: a failure is logged, and the next sweep tries again. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#logged(() => this.#sweepAll()).finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #logged(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.parts.log.error({ err: error }, 'the store does not answer');
    }
  }

  async #sweepAll(): Promise<void> {
    const { store } = this.parts;
    const configuration = this.parts.configuration();
    await this.#sweepHolds();
    await store.rates.sweep();
    await store.images.sweep();
    await store.rests.sweep();
    await store.idempotency.sweep(configuration.limits.idempotency_total_bytes);
    await store.sign_in.sweep(configuration.sign_in.session);
    await this.#sweepRequests();
    await this.#price_notes.note(configuration);
  }

  async #sweepHolds(): Promise<void> {
    const { store, charge_writer, log } = this.parts;
    // The charges of a dead process are entered before its holds are released.
    const released = (await charge_writer.adopt()) ? await store.recover() : 0;
    if (released > 0) log.warn({ released }, 'released the holds of a process that has ended');
    const forgotten = await store.releaseForgotten(() => charge_writer.known);
    if (forgotten > 0) log.warn({ forgotten }, 'released holds of requests that have ended');
    const swept = await store.tasks.sweep(this.parts.configuration().limits.task_ms);
    for (const one of swept) logExpired(one, log);
  }

  /** Deletes old records. Also adds records to the totals that a killed process did not add. */
  async #sweepRequests(): Promise<void> {
    const { store, records, now } = this.parts;
    await records.flush();
    const { keep_ms, keep_totals_ms } = this.parts.configuration().requests;
    const now_ms = now();
    const oldest = { records_ms: now_ms - keep_ms, totals_ms: now_ms - keep_totals_ms };
    await store.requests.sweep(oldest, this.#stopped.signal);
  }
}
