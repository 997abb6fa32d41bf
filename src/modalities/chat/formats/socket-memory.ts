import { COPIES, type RequestMemory } from '../../../http/memory-budget.js';

/** A turn that is remembered, and the one that it continues. */
export class Turn {
  /** How often it is named: by its ID, by turns that follow it, and by those that run. */
  names = 1;

  constructor(
    /** The items that it adds, as JSON with commas between them. */
    readonly items: string,
    readonly earlier: Turn | undefined,
    readonly bytes: number,
    readonly memory: RequestMemory,
  ) {}
}

/**
 * The turns of one socket, by the IDs of their answers. Turns that continue the same one share it.
 * Beyond the limit the oldest are forgotten, and then all of a conversation that is larger.
 */
export class SocketMemory {
  readonly #turns = new Map<string, Turn>();
  #bytes = 0;
  #isClosed = false;

  constructor(
    private readonly max_bytes: number,
    private readonly newCount: () => RequestMemory,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** The turn of an ID, kept until `release`; undefined if none is remembered. */
  hold(id: string): Turn | undefined {
    const turn = this.#turns.get(id);
    if (turn) turn.names += 1;
    return turn;
  }

  /** Frees a turn, and those before it, that nothing names any more. */
  release(held: Turn | undefined): void {
    for (let turn = held; turn; turn = turn.earlier) {
      turn.names -= 1;
      if (turn.names > 0) return;
      this.#bytes -= turn.bytes;
      turn.memory.close();
    }
  }

  /** Remembers the items of a turn that follows `earlier`, which the caller holds. */
  remember(id: string, items: string, earlier: Turn | undefined): void {
    if (this.#isClosed) return;
    const memory = this.newCount();
    const bytes = Buffer.byteLength(items);
    try {
      memory.take(bytes / COPIES);
    } catch {
      // Other sockets use all memory: the next turn must bring the whole conversation.
      return;
    }
    if (earlier) earlier.names += 1;
    this.#bytes += bytes;
    this.#turns.set(id, new Turn(items, earlier, bytes, memory));
    for (const oldest of this.#turns.keys()) {
      if (this.#bytes <= this.max_bytes) break;
      this.#forget(oldest);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const id of this.#turns.keys()) this.#forget(id);
  }

  #forget(id: string): void {
    const turn = this.#turns.get(id);
    this.#turns.delete(id);
    this.release(turn);
  }
}

/** The items of a turn and of all before it, oldest first, as JSON texts. */
export function itemsUpTo(turn: Turn | undefined): string[] {
  const items: string[] = [];
  for (let at = turn; at; at = at.earlier) if (at.items !== '') items.push(at.items);
  return items.reverse();
}
