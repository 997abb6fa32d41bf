import type { ChatCall, ChatDelta, StreamDecoder } from '../../src/modalities/chat/codec.js';
import type { Upstream } from '../../src/core/model.js';
import { parseJson } from '../../src/lib/json-text.js';
import { classifyErrorInside } from '../../src/upstream/classify-error.js';
import { broken } from '../gemini-wire.js';
import { endings, lastCalls, newAnswer, readEvent } from './answer.js';

/**
 * Decodes deltas as they arrive. The wire does not mark the end of a stream, and any event may have
 * a finish reason, so finish reasons are reported when the bytes have ended.
 */
export function decodeStream({ n }: ChatCall, upstream: Upstream): StreamDecoder {
  const { provider } = upstream;
  const answer = newAnswer();
  const { choices } = answer;
  const readData = (text: string, deltas: ChatDelta[]): void => {
    for (const delta of readEvent(parse(text), answer, upstream, n)) {
      // An event may have a candidate without content.
      if (delta.usage !== undefined || Object.keys(delta).length > 1) deltas.push(delta);
    }
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
    },
  };
}

function parse(data: string): unknown {
  const event = parseJson(data);
  if (event === undefined) throw broken('The upstream sent an event that is not JSON.');
  return event;
}
