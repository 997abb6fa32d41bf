import { GatewayError } from '../core/errors.js';

/**
 * Bodies and answers are held as bytes, as text and as what is parsed from it, not all of it at the
 * same time: each of their bytes counts as so many.
 */
export const COPIES = 3;
/** What one JSON value costs in the heap, beside its text. */
const VALUE_BYTES = 48;
/** One account may have this part of all, so that the others are still served. */
const SHARE = 0.5;
const RETRY_S = '1';

/** What the requests of one account have in memory. Those without an account share one. */
interface Share {
  readonly account_id: string;
  bytes: number;
}

/** The most that one account may have in memory. */
export function shareOf(total_bytes: number): number {
  return total_bytes * SHARE;
}

/** Counts what the bodies and answers of all requests weigh. Each process counts for itself. */
export class Memory {
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** What one request has in memory: nothing at first. */
  room(account_id: string | undefined, total_bytes: number): Room {
    return new Room(this, account_id ?? '', total_bytes);
  }

  /** For rooms: the account's share, made where it has none. */
  shareOf(account_id: string): Share {
    let share = this.#shares.get(account_id);
    if (!share) {
      share = { account_id, bytes: 0 };
      this.#shares.set(account_id, share);
    }
    return share;
  }

  /** For rooms: counts so much more, or less. A share that is empty is forgotten. */
  count(share: Share, bytes: number): void {
    this.#bytes += bytes;
    share.bytes += bytes;
    if (share.bytes === 0) this.#shares.delete(share.account_id);
  }
}

/** What one request has in memory. To be closed on every way out. */
export class Room {
  #bytes = 0;
  /** Counted for an answer that is still to come. */
  #reserved = 0;

  constructor(
    private readonly memory: Memory,
    private readonly account_id: string,
    private readonly total_bytes: number,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Room for bytes that a client sends. Throws `GatewayError` (503) where there is none. */
  take(bytes: number): void {
    const share = this.memory.shareOf(this.account_id);
    const more = bytes * COPIES;
    if (share.bytes + more > shareOf(this.total_bytes)) throw full('this account has');
    this.#count(share, more);
  }

  /** Room for the values of a body beside its bytes. */
  takeValues(values: number): void {
    this.take((values * VALUE_BYTES) / COPIES);
  }

  /** Room for an answer before it is paid for, at most the account's share. Throws likewise. */
  reserve(bytes: number): void {
    const most = shareOf(this.total_bytes) - this.#bytes;
    const reserved = Math.min(bytes * COPIES, most);
    this.take(reserved / COPIES);
    this.#reserved += reserved;
  }

  /**
   * Room for an answer that is coming in. It is paid for by now, so the account's share does not
   * stand in its way; throws `GatewayError` (503) only where all of the memory is in use.
   */
  grow(bytes: number): void {
    const wanted = bytes * COPIES;
    const more = wanted - Math.min(this.#reserved, wanted);
    this.#reserved -= wanted - more;
    if (more > 0) this.#count(this.memory.shareOf(this.account_id), more);
  }

  /** Gives all of it back. */
  close(): void {
    if (this.#bytes === 0) return;
    this.memory.count(this.memory.shareOf(this.account_id), -this.#bytes);
    this.#bytes = 0;
    this.#reserved = 0;
  }

  #count(share: Share, bytes: number): void {
    if (this.memory.bytes + bytes > this.total_bytes) {
      if (share.bytes === 0) this.memory.count(share, 0);
      throw full('the gateway has');
    }
    this.memory.count(share, bytes);
    this.#bytes += bytes;
  }
}

function full(who: string): GatewayError {
  return new GatewayError(
    'overloaded',
    `As much as ${who} memory for is in flight already: try again in a moment.`,
    { headers: { 'retry-after': RETRY_S } },
  );
}
