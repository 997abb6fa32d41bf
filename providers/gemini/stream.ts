import type { ChatCall, ChatDelta, StreamDecoder } from '../../src/modalities/chat/codec.js';
import type { Upstream } from '../../src/core/model.js';
import { parseJson } from '../../src/lib/json-text.js';
import { classifyErrorInside } from '../../src/upstream/classify-error.js';
import { broken } from '../gemini-wire.js';
import { endings, lastCalls, readEvent, type Choices } from './answer.js';

/**
 * Decodes deltas as they arrive. The wire does not mark the end of a stream, and any event may have
 * a finish reason, so finish reasons are reported when the bytes have ended.
 */
export function decodeStream({ n }: ChatCall, { provider }: Upstream): StreamDecoder {
  const choices: Choices = new Map();
  /** Held back: usage alone would count as the beginning of an answer. */
  let usage: unknown;
  const readData = (text: string, deltas: ChatDelta[]): void => {
    for (const delta of readEvent(parse(text), choices, provider, n)) {
      if (delta.usage !== undefined) usage = delta.usage;
      else if (Object.keys(delta).length > 1) deltas.push(delta);
    }
    if (usage === undefined || ![...choices.values()].some((choice) => choice.hasSpoken)) return;
    deltas.push({ usage });
    usage = undefined;
  };
  return {
    read(events, deltas) {
      for (const { event, data } of events) {
        // An error may come without `data:`, as bare JSON.
        if (event === 'error') throw classifyErrorInside(data, provider);
        const text = data.trim();
        if (text !== '' && text !== '[DONE]') readData(text, deltas);
      }
      return false;
    },
    end(deltas) {
      const ends = endings(choices, true);
      deltas.push(...lastCalls(choices));
      for (const [index, finish_reason] of ends) {
        if (finish_reason !== null) deltas.push({ index, finish_reason });
      }
      if (usage !== undefined) deltas.push({ usage });
    },
  };
}

function parse(data: string): unknown {
  const event = parseJson(data);
  if (event === undefined) throw broken('The upstream sent an event that is not JSON.');
  return event;
}
