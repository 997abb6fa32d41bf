import type { UpstreamUsage } from '../../core/usage.js';
import { mergeCounters } from '../../lib/counters.js';
import { isRecord } from '../../lib/objects.js';
import type { ChatDelta, StreamDecoder } from './codec.js';

/** A text of one choice. */
export interface ChoiceText {
  index: number;
  text: string;
}

/** The usage that one call to an upstream has reported so far. */
export class UsageReport {
  usage: UpstreamUsage | undefined;
  /** Output has come since it was last counted. */
  is_behind = false;
  /** Text that has come and that its client does not get. */
  unseen: readonly ChoiceText[] = [];

  /** `from` is the first of the `n` choices that the call makes. */
  constructor(
    readonly from: number,
    readonly n: number,
  ) {}

  /** Notes what a decoder reads, before anything can fail or leave. */
  noting(decoder: StreamDecoder): StreamDecoder {
    const notingAll = <Result>(deltas: ChatDelta[], decode: () => Result): Result => {
      const start = deltas.length;
      try {
        return decode();
      } finally {
        for (let at = start; at < deltas.length; at += 1) this.#note(deltas[at]);
      }
    };
    return {
      read: (events, deltas) => notingAll(deltas, () => decoder.read(events, deltas)),
      end: (deltas) => notingAll(deltas, () => decoder.end(deltas)),
    };
  }

  /** Merges a further report of usage, if it is one. */
  add(usage: unknown): void {
    if (!isRecord(usage)) return;
    const counted = this.usage?.completion_tokens;
    this.usage = mergeCounters<UpstreamUsage>(this.usage, usage);
    if (this.usage.completion_tokens !== counted) this.is_behind = false;
  }

  #note({ index, usage }: ChatDelta = {}): void {
    if (index !== undefined) this.is_behind = true;
    this.add(usage);
  }
}
