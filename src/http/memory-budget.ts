import { GatewayError } from '../core/errors.js';

/**
 * A body or answer is in memory as bytes, as text and as parsed values, though not all at the same
 * time. Each of its bytes counts this many times.
 */
export const COPIES = 3;
/** The heap that one JSON value takes, beside its text. */
const VALUE_BYTES = 48;
/** The part of all memory that one account may use, so that the others are still served. */
const SHARE = 0.5;
const RETRY_S = '1';

/** The memory that the requests of one account use. Requests without an account share one entry. */
interface Share {
  readonly account_id: string;
  bytes: number;
}

/** The bytes that one account may use. */
export function shareOf(total_bytes: number): number {
  return total_bytes * SHARE;
}

/** The size limit of a body in bytes: at most an account's whole share of memory. */
export function largestBody(limits: { body_bytes: number; in_flight_bytes: number }): number {
  return Math.min(limits.body_bytes, Math.floor(shareOf(limits.in_flight_bytes) / COPIES));
}

/** Counts the memory of all bodies and answers. Each process counts for itself. */
export class MemoryBudget {
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** The memory of a new request, empty at first. */
  forRequest(account_id: string | undefined, total_bytes: number): RequestMemory {
    return new RequestMemory(this, account_id ?? '', total_bytes);
  }

  /** The share of an account, created at its first use. Only `RequestMemory` calls this. */
  shareOf(account_id: string): Share {
    let share = this.#shares.get(account_id);
    if (!share) {
      share = { account_id, bytes: 0 };
      this.#shares.set(account_id, share);
    }
    return share;
  }

  /**
   * Adds bytes to a share, or removes them. Deletes an empty share. Only `RequestMemory` calls
   * this.
   */
  count(share: Share, bytes: number): void {
    this.#bytes += bytes;
    share.bytes += bytes;
    if (share.bytes === 0) this.#shares.delete(share.account_id);
  }
}

/** The memory that one request uses. It must be closed on every exit. */
export class RequestMemory {
  #bytes = 0;
  /** The part of these bytes that is for an answer that has not arrived yet. */
  #reserved = 0;

  constructor(
    private readonly memory: MemoryBudget,
    private readonly account_id: string,
    private readonly total_bytes: number,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes room for bytes that a client sends. Throws `GatewayError` (503) if there is none. */
  take(bytes: number): void {
    const share = this.memory.shareOf(this.account_id);
    const counted = bytes * COPIES;
    if (share.bytes + counted > shareOf(this.total_bytes)) throw full('this account has');
    this.#count(share, counted);
  }

  /** Takes room for the values of a body, beside its bytes. Throws likewise. */
  takeValues(values: number): void {
    this.take((values * VALUE_BYTES) / COPIES);
  }

  /**
   * Takes room for an answer before it is paid for, at most the account's share. Throws likewise.
   */
  reserve(bytes: number): void {
    const max = shareOf(this.total_bytes) - this.#bytes;
    const reserved = Math.min(bytes * COPIES, max);
    this.take(reserved / COPIES);
    this.#reserved += reserved;
  }

  /**
   * Takes room for an answer while it arrives. It is paid for by now, so the account's share is not
   * a limit. Throws `GatewayError` (503) only if all of the memory is in use.
   */
  grow(bytes: number): void {
    const wanted = bytes * COPIES;
    const more = wanted - Math.min(this.#reserved, wanted);
    this.#reserved -= wanted - more;
    if (more > 0) this.#count(this.memory.shareOf(this.account_id), more);
  }

  /** Frees all memory of the request. */
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

function full(owner: string): GatewayError {
  return new GatewayError(
    'overloaded',
    `The requests in flight use all the memory that ${owner}: try again in a moment.`,
    { headers: { 'retry-after': RETRY_S } },
  );
}
