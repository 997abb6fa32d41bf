import { expect } from 'chai';
import OpenAI from 'openai';
import { chat } from '../../../../providers/openai.js';
import { UpstreamError } from '../../../../src/core/upstream-error.js';
import type { ChatCall, ChatDelta } from '../../../../src/modalities/chat/codec.js';
import { chatCompletion } from '../../../../src/modalities/chat/formats/chat-completion.js';
import { completions } from '../../../../src/modalities/chat/formats/completions.js';
import type { ChatFormat } from '../../../../src/modalities/chat/formats/format.js';
import { openAiChat } from '../../../../src/modalities/chat/formats/openai-chat.js';
import { responses } from '../../../../src/modalities/chat/formats/responses.js';
import { toClientError } from '../../../../src/upstream/to-client-error.js';
import { EventReader } from '../../../../src/upstream/sse.js';
import { providerAt, upstreamAt } from '../../../helpers/upstream.js';

const HEADING = { id: 'chatcmpl-1', created: 1, model: 'm' };
const SHOWN = { choices: 1, tools: true, reasoning: true, logprobs: false };
const CALL: ChatCall = { messages: [], stream: true, n: 1, max_tokens: 99, fields: {} };
const LIMITS = { event_bytes: 1_000_000, stream_bytes: 1_000_000, answer_bytes: 1_000_000 };
const BILL = {
  usage: { prompt_tokens: 12, completion_tokens: 7 },
  cost_nano: 1n,
  estimated: false,
};
const WORK = { kind: 'chat', call: CALL, ignored: [] } as unknown as Parameters<
  ChatFormat['stream']
>[2];
const UPSTREAM = upstreamAt(providerAt('http://127.0.0.1'), { model: 'm' });

function chunk(delta: object, finish_reason: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}

const TEXT = Buffer.from(
  [
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Hm 🌍, ' }),
    chunk({ content: 'I look.' }),
    chunk({}, 'stop'),
    `data: ${JSON.stringify({ choices: [], usage: BILL.usage })}\n\n`,
    'data: [DONE]\n\n',
  ].join(''),
);

/** What a client gets of an upstream that has sent these bytes and no more. */
function written(format: ChatFormat, bytes: Uint8Array): string {
  const decoder = chat.decodeStream(CALL, UPSTREAM);
  const frames = new EventReader(LIMITS);
  const writer = format.stream(HEADING, SHOWN, WORK);
  const pieces: ChatDelta[] = [];
  try {
    if (!decoder.read(frames.read(bytes), pieces)) {
      if (!decoder.read(frames.finish(), pieces)) decoder.end(pieces);
    }
    return writer.frame(pieces) + writer.end(BILL);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return writer.frame(pieces) + writer.error(toClientError(error));
  }
}

/** Each format, and the words by which its clients know that an answer is whole. */
const FORMATS: readonly [format: ChatFormat, marks: readonly RegExp[]][] = [
  [chatCompletion, [/\[DONE\]/u, /"finish_reason":"/u]],
  [openAiChat, [/\[DONE\]/u, /"finish_reason":"/u]],
  [completions, [/\[DONE\]/u, /"finish_reason":"/u]],
  [responses, [/response\.completed/u, /"status":"completed"/u]],
];

describe('a stream whose upstream was cut after any of its bytes', () => {
  /** From here on the upstream has said how it ended. */
  const said = TEXT.indexOf('"stop"') + 1;

  for (const [format, marks] of FORMATS) {
    it(`has no mark of a whole answer in the format ${format.name}, and ends in an error`, () => {
      const whole = written(format, TEXT);
      for (const mark of marks) expect(whole).to.match(mark);
      for (let n = 0; n <= said; n += 1) {
        const stream = written(format, TEXT.subarray(0, n));
        for (const mark of marks) expect(stream, `${n} bytes`).not.to.match(mark);
        expect(stream, `${n} bytes`).to.match(/error/u);
      }
    });
  }

  it('makes the real client of chat completions throw', async () => {
    const cuts = Array.from({ length: said }, (_, n) => written(openAiChat, TEXT.subarray(0, n)));
    const read = async (stream: string): Promise<void> => {
      const fetch = (): Promise<Response> =>
        Promise.resolve(new Response(stream, { headers: { 'content-type': 'text/event-stream' } }));
      const client = new OpenAI({ apiKey: 'tg-key', maxRetries: 0, fetch });
      const events = await client.chat.completions.create({
        model: 'm',
        messages: [],
        stream: true,
      });
      for await (const _ of events);
    };
    await read(written(openAiChat, TEXT));
    const outcomes = await Promise.allSettled(cuts.map(read));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.deep.equal([]);
  });
});
