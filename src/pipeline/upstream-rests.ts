import type { Logger } from 'pino';
import type { Upstream } from '../core/model.js';
import type { UpstreamError } from '../core/upstream-error.js';
import type { Claim, Rest, RestChange, RestStore, UpstreamName } from '../store/rests/rests.js';
import { isOwnFailure, retryAfterMs } from '../upstream/to-client-error.js';

/** The first rest; each further failure doubles it. */
const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;
/** The longest time that an upstream itself can ask for. */
const LONGEST_TOLD_MS = 3_600_000;
/** A probe is claimed for this long, and claimed again while it lasts. */
const CLAIM_MS = 10_000;
/** How often the store is read and written while calls come. */
const SYNC_MS = 1_000;
/** An upstream that has answered this often in a row may fail once without a rest. */
const TRUSTED_ANSWERS = 20;

/**
 * An upstream alone is believed when it says when to come back, once it has said so this often in a
 * row: one client's large request can be all that it takes in a minute.
 */
const TOLD_BEFORE_BELIEVED = 10;

/** A rest as this process knows it. */
interface KnownRest {
  row: Rest;
  /** When it changed last, in the order of the changes. */
  changed_at: number;
  /** A call of this process probes the upstream. */
  is_probed: boolean;
}

/** A call to an upstream, which tells how it ended exactly once. */
export interface AskedUpstream {
  answered(): void;
  failed(error: UpstreamError): void;
  /** It ended without saying anything of the upstream. */
  ended(): void;
}

export type RestState = 'well' | 'rests' | 'probe';

/** When a call began, in the order of the changes, and whether it is a probe. */
interface Began {
  began_at: number;
  isProbe: boolean;
}

interface RestParts {
  store: RestStore;
  log: Logger;
  now: () => number;
}

/**
 * Remembers the upstreams that fail, so that calls leave them alone while others can serve. What
 * this process sees counts at once. What others see comes by the store, which is read once a second
 * while calls come, and written when an upstream begins or ends its rest.
 */
export class UpstreamRests {
  readonly #rests = new Map<string, KnownRest>();
  readonly #unwritten = new Map<string, RestChange>();
  /** The answers in a row of each upstream. */
  readonly #answers = new WeakMap<Upstream, number>();
  /** How often in a row each upstream has said to this process when to come back. */
  readonly #told = new WeakMap<Upstream, number>();
  #changes = 0;
  #synced_ms = -Infinity;
  #written_ms = -Infinity;
  #syncing: Promise<void> | undefined;

  constructor(private readonly parts: RestParts) {}

  /**
   * Whether the upstream rests, and so gets no call while another can serve. `probe`: this call is
   * the one that tries whether it answers again.
   */
  stateOf({ provider, model }: Upstream): RestState | Promise<RestState> {
    const now_ms = this.parts.now();
    if (now_ms - this.#synced_ms >= SYNC_MS || now_ms < this.#synced_ms) void this.sync();
    if (this.#rests.size === 0) return 'well';
    const key = keyOf({ provider: provider.name, model });
    const state = this.#stateAt(key);
    return state === 'probe' ? this.#claim(key) : state;
  }

  #stateAt(key: string): RestState {
    const known = this.#rests.get(key);
    if (!known) return 'well';
    const { until_ms, probe_until_ms } = known.row;
    const now_ms = this.parts.now();
    return known.is_probed || until_ms > now_ms || probe_until_ms > now_ms ? 'rests' : 'probe';
  }

  /**
   * When an upstream that no other stands in for said that it may be called again; undefined if
   * that is over, not said, or not believed yet.
   */
  toldUntil(upstream: Upstream): number | undefined {
    if ((this.#told.get(upstream) ?? 0) < TOLD_BEFORE_BELIEVED) return undefined;
    const { provider, model } = upstream;
    const known = this.#rests.get(keyOf({ provider: provider.name, model }));
    const told_until_ms = known?.row.told_until_ms ?? 0;
    return told_until_ms > this.parts.now() ? told_until_ms : undefined;
  }

  /** A call to the upstream begins. */
  ask(upstream: Upstream, isProbe: boolean): AskedUpstream {
    const name = { provider: upstream.provider.name, model: upstream.model };
    const began = { began_at: this.#changes, isProbe };
    return {
      answered: () => {
        this.#answers.set(upstream, (this.#answers.get(upstream) ?? 0) + 1);
        this.#told.delete(upstream);
        if (this.#rests.size > 0) this.#answered(name, began);
      },
      failed: (error) => {
        if (isOwnFailure(error)) this.#failed(upstream, name, error, began);
        // The upstream has judged the request, so it works. A limit on size is judged ahead.
        else if (error.status !== undefined && !error.is_too_large) this.#answered(name, began);
        else if (isProbe) this.#release(name);
      },
      ended: () => {
        if (isProbe) this.#release(name);
      },
    };
  }

  /** The upstreams that rest. */
  report(): readonly Rest[] {
    return Array.from(this.#rests.values(), ({ row }) => row);
  }

  /** Writes what has changed, and reads what other processes have changed. Never rejects. */
  sync(): Promise<void> {
    this.#syncing ??= this.#exchange().finally(() => {
      this.#syncing = undefined;
      this.#writeInTime();
    });
    return this.#syncing;
  }

  /** Writes at once; after a write less than a second ago, the next sync does. */
  #writeInTime(): void {
    const isDue = this.parts.now() - this.#written_ms >= SYNC_MS;
    if (isDue && this.#unwritten.size > 0) void this.sync();
  }

  async #exchange(): Promise<void> {
    const { store, log, now } = this.parts;
    this.#synced_ms = now();
    this.#claimOn(this.#synced_ms);
    const written = new Map(this.#unwritten);
    this.#unwritten.clear();
    if (written.size > 0) this.#written_ms = this.#synced_ms;
    const began_at = this.#changes;
    try {
      this.#adopt(await store.exchange([...written.values()]), began_at);
    } catch (err) {
      // The process goes on by what it sees itself, and writes it later.
      for (const [key, change] of written) {
        if (!this.#unwritten.has(key)) this.#unwritten.set(key, change);
      }
      log.debug({ err }, 'the upstreams that rest could not be read');
    }
  }

  /** Keeps the claims of the probes that last. */
  #claimOn(now_ms: number): void {
    for (const known of this.#rests.values()) {
      if (!known.is_probed || known.row.probe_until_ms - now_ms > CLAIM_MS / 2) continue;
      known.row = { ...known.row, probe_until_ms: now_ms + CLAIM_MS };
      this.#unwritten.set(keyOf(known.row), { is_over: false, rest: known.row, sets_probe: true });
    }
  }

  /** Takes over what the store has, except for what has changed here meanwhile. */
  #adopt(rows: readonly Rest[], began_at: number): void {
    const stored = new Map(rows.map((row) => [keyOf(row), row]));
    const isOwn = (key: string): boolean => {
      const known = this.#rests.get(key);
      const isNewer = known !== undefined && (known.is_probed || known.changed_at > began_at);
      return isNewer || this.#unwritten.has(key);
    };
    for (const key of this.#rests.keys()) {
      if (!stored.has(key) && !isOwn(key)) this.#rests.delete(key);
    }
    for (const [key, row] of stored) {
      if (isOwn(key)) continue;
      const known = this.#rests.get(key);
      const isSame = known?.row.until_ms === row.until_ms && known.row.failures === row.failures;
      const changed_at = isSame ? known.changed_at : (this.#changes += 1);
      this.#rests.set(key, { row, changed_at, is_probed: false });
    }
  }

  async #claim(key: string): Promise<RestState> {
    // A rest that this process has not written yet must not look as if another had ended it. An
    // exchange under way may have begun before the rest; then the next one writes it.
    for (let exchange = 0; this.#syncing && exchange < 2; exchange += 1) await this.#syncing;
    const known = this.#rests.get(key);
    const state = this.#stateAt(key);
    if (!known || state !== 'probe') return state;
    known.is_probed = true;
    const now_ms = this.parts.now();
    const claimed = { ...known.row, probe_until_ms: now_ms + CLAIM_MS };
    // Without the store, this process decides alone.
    const claim = await this.parts.store.claim(claimed, now_ms).catch((): Claim => 'claimed');
    // A call may have answered or failed meanwhile.
    const isSame = this.#rests.get(key) === known;
    if (claim === 'over' && isSame && !this.#unwritten.has(key)) this.#rests.delete(key);
    const current = this.#rests.get(key);
    if (!current) return 'well';
    const isTaken = claim === 'taken';
    current.is_probed = !isTaken;
    // Another process probes it, or knows of a longer rest: the next sync tells.
    const probe_until_ms = now_ms + (isTaken ? SYNC_MS : CLAIM_MS);
    current.row = { ...current.row, probe_until_ms };
    return isTaken ? 'rests' : 'probe';
  }

  /** Lets another call probe the upstream. */
  #release(name: UpstreamName): void {
    const known = this.#rests.get(keyOf(name));
    if (!known) return;
    known.is_probed = false;
    known.row = { ...known.row, probe_until_ms: 0 };
    this.#write(name, { is_over: false, rest: known.row, sets_probe: true });
  }

  #answered(name: UpstreamName, { began_at, isProbe }: Began): void {
    const key = keyOf(name);
    const known = this.#rests.get(key);
    // A call from before the rest says nothing of the upstream now.
    if (!known || (known.changed_at > began_at && !isProbe)) return;
    this.#rests.delete(key);
    this.#changes += 1;
    this.#write(name, { is_over: true, upstream: name });
    const rested_ms = this.parts.now() - known.row.since_ms;
    this.parts.log.info({ ...name, rested_ms }, 'an upstream answers again');
  }

  #failed(upstream: Upstream, name: UpstreamName, error: UpstreamError, began: Began): void {
    const known = this.#rests.get(keyOf(name));
    const answers = this.#answers.get(upstream) ?? 0;
    this.#answers.set(upstream, 0);
    const now_ms = this.parts.now();
    const told_ms = Math.min(retryAfterMs(error, now_ms) ?? 0, LONGEST_TOLD_MS);
    if (told_ms > 0) this.#told.set(upstream, (this.#told.get(upstream) ?? 0) + 1);
    if (!known && answers >= TRUSTED_ANSWERS && told_ms === 0 && isBrief(error)) return;
    const row = known?.row;
    const told_until_ms = Math.max(row?.told_until_ms ?? 0, told_ms > 0 ? now_ms + told_ms : 0);
    // Calls that fail together are one failure.
    const isKnown =
      known !== undefined &&
      !began.isProbe &&
      (known.row.until_ms > now_ms || known.changed_at > began.began_at);
    if (isKnown && told_until_ms === known.row.told_until_ms) return;
    const failures = (row?.failures ?? 0) + (isKnown ? 0 : 1);
    const rest_ms = Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
    const until_ms = isKnown ? known.row.until_ms : now_ms + rest_ms;
    const rest: Rest = {
      ...name,
      fault: error.fault,
      failures,
      since_ms: row?.since_ms ?? now_ms,
      until_ms: Math.max(until_ms, told_until_ms),
      told_until_ms,
      probe_until_ms: began.isProbe ? 0 : (row?.probe_until_ms ?? 0),
    };
    const is_probed = !began.isProbe && known?.is_probed === true;
    this.#rests.set(keyOf(name), { row: rest, changed_at: (this.#changes += 1), is_probed });
    this.#write(name, { is_over: false, rest, sets_probe: began.isProbe });
    const facts = { ...name, fault: error.fault, failures, rest_ms: rest.until_ms - now_ms };
    this.parts.log.warn(facts, 'an upstream that fails is left alone');
  }

  #write(name: UpstreamName, change: RestChange): void {
    const key = keyOf(name);
    const earlier = this.#unwritten.get(key);
    const isProbeSet = earlier && !earlier.is_over && earlier.sets_probe;
    const isBoth = isProbeSet && !change.is_over;
    this.#unwritten.set(key, isBoth ? { ...change, sets_probe: true } : change);
    this.#writeInTime();
  }
}

/** A failure that cost its call no time, such as a 500. It is common at sound upstreams. */
function isBrief({ fault, reached }: UpstreamError): boolean {
  return (fault === 'broken' || fault === 'overloaded') && reached === undefined;
}

function keyOf({ provider, model }: UpstreamName): string {
  return `${provider}\0${model}`;
}
