import { UpstreamError } from '../../core/upstream-error.js';
import type { Limits } from './call.js';
import type { ChatReply, ReasoningDetail } from './codec.js';

export type AnswerLimits = Pick<Limits, 'stream_events' | 'answer_calls' | 'answer_parts'>;

/** Counts what one answer of an upstream consists of. Throws `UpstreamError` beyond a limit. */
export class AnswerBounds {
  readonly #limits: AnswerLimits;
  #events = 0;
  #calls = 0;
  #parts = 0;
  /** The last part of reasoning of each choice. */
  #last: Map<number, ReasoningDetail> | undefined;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
  }

  addEvents(count: number): void {
    this.#events += count;
    this.#refuseOver(this.#events, this.#limits.stream_events, 'events');
  }

  addCalls(count: number): void {
    this.#calls += count;
    this.#refuseOver(this.#calls, this.#limits.answer_calls, 'tool calls');
  }

  /** A part that arrives in pieces counts once. */
  addReasoning(choice: number, details: readonly ReasoningDetail[]): void {
    if (details.length === 0) return;
    let last = this.#last?.get(choice);
    for (const detail of details) {
      if (last?.type !== detail.type || last.index !== detail.index) this.#parts += 1;
      last = detail;
    }
    this.#last ??= new Map();
    if (last) this.#last.set(choice, last);
    this.#refuseOver(this.#parts, this.#limits.answer_parts, 'parts of reasoning');
  }

  #refuseOver(count: number, limit: number, noun: string): void {
    if (count <= limit) return;
    throw new UpstreamError('broken', `The upstream's answer has over ${limit} ${noun}.`);
  }
}

/** Throws `UpstreamError` for a whole answer beyond a limit. */
export function refuseLarge({ choices }: ChatReply, limits: AnswerLimits): void {
  const bounds = new AnswerBounds(limits);
  for (const { index, tool_calls = [], reasoning_details = [] } of choices) {
    bounds.addCalls(tool_calls.length);
    bounds.addReasoning(index, reasoning_details);
  }
}
