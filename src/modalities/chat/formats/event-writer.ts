import type { Bill } from '../../../billing/bill.js';
import type { GatewayError } from '../../../core/errors.js';
import type { Shown } from '../call.js';
import type { ChatDelta } from '../codec.js';
import type { ChatStreamWriter } from './format.js';

/**
 * The common part of stream writers: it drops surplus choices, and keeps the last usage and the
 * delivered text of each choice.
 */
export abstract class EventWriter implements ChatStreamWriter {
  usage: unknown;
  hasSpoken = false;
  readonly #texts = new Map<number, string>();

  constructor(protected readonly shown: Shown) {}

  get shows_reasoning(): boolean {
    return this.shown.reasoning;
  }

  frame(pieces: readonly ChatDelta[]): string {
    this.noteUsage(pieces);
    let events = '';
    for (const piece of pieces) {
      const { index } = piece;
      if (index !== undefined && index < this.shown.choices) events += this.piece(piece, index);
    }
    return events;
  }

  noteUsage(pieces: readonly ChatDelta[]): void {
    for (const { usage } of pieces) {
      if (usage !== undefined && usage !== null) this.usage = usage;
    }
  }

  texts(): string[] {
    return [...this.#texts.values()];
  }

  abstract end(bill: Bill): string;

  abstract error(error: GatewayError): string;

  /** The events for a delta of the choice `index`; empty if it adds nothing. */
  protected abstract piece(piece: ChatDelta, index: number): string;

  /** Records text of a choice that is delivered, and so charged. */
  protected delivered(text: string, index = 0): void {
    this.#texts.set(index, (this.#texts.get(index) ?? '') + text);
    this.hasSpoken = true;
  }
}

/** An event with its name on a line of its own. */
export function namedEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
