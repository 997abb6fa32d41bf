import type { ChatCall, ChatDelta, StreamDecoder } from '../../src/modalities/chat/codec.js';
import type { Upstream } from '../../src/core/model.js';
import { classifyErrorInside } from '../../src/upstream/classify-error.js';
import { broken } from '../gemini-wire.js';
import { endings, lastCalls, readEvent, type Choices } from './answer.js';

/**
 * Decodes deltas as they arrive. The wire does not mark the end of a stream, and any event may have
 * a finish reason, so finish reasons are reported when the bytes have ended.
 */
export function decodeStream(_: ChatCall, { provider }: Upstream): StreamDecoder {
  const choices: Choices = new Map();
  /** Held back: usage alone would count as the beginning of an answer. */
  let usage: unknown;
  const readData = (text: string, pieces: ChatDelta[]): void => {
    for (const piece of readEvent(parse(text), choices, provider)) {
      if (piece.usage !== undefined) usage = piece.usage;
      else if (Object.keys(piece).length > 1) pieces.push(piece);
    }
    if (usage === undefined || ![...choices.values()].some((choice) => choice.hasSpoken)) return;
    pieces.push({ usage });
    usage = undefined;
  };
  return {
    read(events, pieces) {
      for (const { event, data } of events) {
        // An error may come without `data:`, as bare JSON.
        if (event === 'error') throw classifyErrorInside(data, provider);
        const text = data.trim();
        if (text !== '' && text !== '[DONE]') readData(text, pieces);
      }
      return false;
    },
    end(pieces) {
      const ends = endings(choices, true);
      pieces.push(...lastCalls(choices));
      for (const [index, finish_reason] of ends) {
        if (finish_reason !== null) pieces.push({ index, finish_reason });
      }
      if (usage !== undefined) pieces.push({ usage });
    },
  };
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw broken('The upstream sent an event that is not JSON.');
  }
}
