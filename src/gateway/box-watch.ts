import cluster from 'node:cluster';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { ChargeWriter } from '../billing/charge-writer.js';
import type { Configuration } from '../core/configuration.js';
import { packageFacts } from '../lib/package-root.js';
import type { SharedClock } from '../lib/shared-clock.js';
import type { BoxReport, TakenUp } from '../schema-types/box-report.js';
import { MIGRATIONS } from '../store/migrations.js';
import type { Store } from '../store/store-types.js';
import { boxesOf, differenceText, type Difference, type EqualPart } from '../telemetry/boxes.js';
import { configurationHashes } from './configuration-hash.js';
import type { Health } from './probes.js';

interface WatchParts {
  store: Pick<Store, 'processes'>;
  charge_writer: Pick<ChargeWriter, 'fault'>;
  state: Health;
  log: Logger;
  /** The time that all processes share. */
  now: () => number;
  /** The clock of this machine, and the one that it is compared with. */
  own_now: () => number;
  clock?: SharedClock | undefined;
}

/** Says how this process is, and tells where the boxes on its store differ. */
export class BoxWatch {
  readonly #version = packageFacts().version;
  #listen = '';
  #equal: Readonly<Record<EqualPart, TakenUp>> | undefined;
  /** What the log was told last. */
  #told = '';
  #seen: { count: number; differences: readonly Difference[] } = { count: 1, differences: [] };

  constructor(private readonly parts: WatchParts) {}

  /** Takes the configuration that serves from now on. */
  take(configuration: Configuration): void {
    const { host, port } = configuration.listen;
    this.#listen = `${host}:${port}`;
    const now_ms = this.parts.now();
    const values = { version: this.#version, ...configurationHashes(configuration) };
    const before = this.#equal;
    const takenUp = (part: EqualPart): TakenUp => {
      const known = before?.[part];
      return known?.value === values[part] ? known : { value: values[part], since_ms: now_ms };
    };
    this.#equal = {
      version: takenUp('version'),
      configuration: takenUp('configuration'),
      prices: takenUp('prices'),
    };
  }

  /** How this process is, for its row in the store. */
  report(): string | undefined {
    if (!this.#equal) return undefined;
    const report: BoxReport = {
      host: hostname(),
      listen: this.#listen,
      main_pid: cluster.isWorker ? process.ppid : process.pid,
      health: this.#health,
      clock_offset_ms: this.clock_offset_ms,
      migrations: MIGRATIONS.length,
      equal: this.#equal,
    };
    return JSON.stringify(report);
  }

  /** Looks at all processes on the store, and logs once what has changed in their differences. */
  async look(): Promise<void> {
    const { store, state, log } = this.parts;
    const { count, differences } = boxesOf(await store.processes());
    this.#seen = { count, differences };
    state.boxes_differ_in = differences.map(({ part }) => part);
    // The offset of a clock is another one each time.
    const told = differences
      .map((one) => (one.part === 'clock' ? one.part : differenceText(one)))
      .join('; ');
    if (told === this.#told) return;
    this.#told = told;
    if (differences.length === 0) log.info('the boxes on this store do not differ any more');
    else log.warn({ differ_in: differences.map(differenceText) }, 'the boxes on this store differ');
  }

  /** How many boxes share the store. */
  get count(): number {
    return this.#seen.count;
  }

  /** How far the clock of this machine is ahead of the database's. */
  get clock_offset_ms(): number {
    const { clock, own_now } = this.parts;
    return clock?.offsetOf(own_now()) ?? 0;
  }

  get #health(): BoxReport['health'] {
    const { state, charge_writer } = this.parts;
    if (state.phase !== 'serving') return 'draining';
    return state.store_hangs || charge_writer.fault !== undefined ? 'waiting' : 'ready';
  }
}
