import { INVOKE_BETAS } from '../anthropic/betas.js';
import { CLAUDE_MARKS, claudeCodec } from '../anthropic/codec.js';
import type { ChatCodec, StreamDecoder } from '../../src/modalities/chat/codec.js';
import type { ServerSentEvent } from '../../src/upstream/sse.js';
import { parseJson } from '../../src/lib/json-text.js';
import { isRecord } from '../../src/lib/objects.js';
import { broken, exceptionError } from './errors.js';
import { exceptionIn, openFrames, refuseBroken } from './frames.js';

const claude = claudeCodec({
  pathOf: ({ stream }, { model }) =>
    `/model/${encodeURIComponent(model)}/${stream ? 'invoke-with-response-stream' : 'invoke'}`,
  envelope: { anthropic_version: 'bedrock-2023-05-31' },
  features: { taken: INVOKE_BETAS, are_in: 'body' },
});

/**
 * Claude by InvokeModel: the body is that of the Messages API, and the frames hold its events
 * in base64.
 */
export const invoke: ChatCodec = {
  encode: (call, upstream) => claude.encode(call, upstream),
  decode: (body, call, upstream) => claude.decode(body, call, upstream),
  cacheMarks: () => CLAUDE_MARKS,
  decodeStream(call, upstream): StreamDecoder {
    const decoder = claude.decodeStream(call, upstream);
    return {
      read(events, deltas) {
        for (const event of events) {
          refuseBroken(event);
          const exception = exceptionIn(event);
          if (exception !== undefined) {
            throw exceptionError(exception, event.data, upstream.provider);
          }
          // One at a time, so that the events before a broken one are not lost.
          if (event.event === 'chunk' && decoder.read([chunkOf(event)], deltas)) return true;
        }
        return false;
      },
      end: (deltas) => decoder.end(deltas),
    };
  },
  openFrames,
};

/** The event of the Messages API that a frame holds. */
function chunkOf({ data }: ServerSentEvent): ServerSentEvent {
  const payload = parseJson(data);
  const bytes = isRecord(payload) ? payload.bytes : undefined;
  if (typeof bytes === 'string') {
    return { event: undefined, data: Buffer.from(bytes, 'base64').toString('utf8') };
  }
  throw broken('The upstream sent a chunk without bytes.');
}
