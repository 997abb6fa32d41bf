import type { Bill } from '../../../billing/bill.js';
import type { GatewayError } from '../../../core/errors.js';
import type { VisibleParts } from '../call.js';
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

  constructor(protected readonly visible: VisibleParts) {}

  get shows_reasoning(): boolean {
    return this.visible.reasoning;
  }

  frame(deltas: readonly ChatDelta[]): string {
    this.noteUsage(deltas);
    let events = '';
    for (const delta of deltas) {
      const { index } = delta;
      if (index !== undefined && index < this.visible.choices)
        events += this.writeDelta(delta, index);
    }
    return events;
  }

  noteUsage(deltas: readonly ChatDelta[]): void {
    for (const { usage } of deltas) {
      if (usage !== undefined && usage !== null) this.usage = usage;
    }
  }

  texts(): string[] {
    return [...this.#texts.values()];
  }

  abstract end(bill: Bill): string;

  abstract error(error: GatewayError): string;

  /** The events for a delta of the choice `index`; empty if it adds nothing. */
  protected abstract writeDelta(delta: ChatDelta, index: number): string;

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
