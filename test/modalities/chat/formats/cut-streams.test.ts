import { expect } from 'chai';
import OpenAI from 'openai';
import { chat as anthropic } from '../../../../providers/anthropic.js';
import { chat as bedrock } from '../../../../providers/bedrock.js';
import { chat as gemini } from '../../../../providers/gemini.js';
import { chat as openai } from '../../../../providers/openai.js';
import { UpstreamError } from '../../../../src/core/upstream-error.js';
import type { ChatCall, ChatCodec, ChatDelta } from '../../../../src/modalities/chat/codec.js';
import { StreamReader, EventReader } from '../../../../src/upstream/sse.js';
import { chatCompletion } from '../../../../src/modalities/chat/formats/chat-completion.js';
import { completions } from '../../../../src/modalities/chat/formats/completions.js';
import type { ChatFormat } from '../../../../src/modalities/chat/formats/format.js';
import { streamGenerateContent } from '../../../../src/modalities/chat/formats/generate-content.js';
import { messages } from '../../../../src/modalities/chat/formats/messages.js';
import { openAiChat } from '../../../../src/modalities/chat/formats/openai-chat.js';
import { responses } from '../../../../src/modalities/chat/formats/responses.js';
import { toClientError } from '../../../../src/upstream/to-client-error.js';
import { providerAt, upstreamAt, type Received } from '../../../helpers/upstream.js';
import { TOOL, type Turn } from './helpers/conversation-parts.js';
import { WIRE_FAKES } from './helpers/wires/wire-fakes.js';

const HEAD = { id: 'chatcmpl-1', created: 1, model: 'm' };
const VISIBLE = { choices: 1, tools: true, reasoning: true, logprobs: false };
const CALL: ChatCall = { messages: [], stream: true, n: 1, max_tokens: 99, fields: {} };
const LIMITS = { event_bytes: 1_000_000, stream_bytes: 1_000_000, answer_bytes: 1_000_000 };
const BILL = {
  usage: { prompt_tokens: 12, completion_tokens: 7 },
  cost_nano: 1n,
  estimated: false,
};
const SIZE = { text_bytes: 5, messages: 1, images: 0 };
const WORK = { call: CALL, size: SIZE, ignored: [] } as unknown as Parameters<
  ChatFormat['stream']
>[2];
const EVENTS = { query: new URLSearchParams('alt=sse') };

/** A text, and calls without one, each after a thought. */
const TURNS: readonly Turn[] = [
  { thought: 'Hm.', text: 'Hm 🌍, I look.' },
  { thought: 'Hm.', calls: [{ name: TOOL.name, args: { city: 'Oslo ☃' } }] },
];

interface Wire {
  codec: ChatCodec;
  /** Where in its bytes an upstream says how its answer ended. */
  end: string;
}

const WIRES: Readonly<Record<string, Wire>> = {
  openai: { codec: openai, end: '"finish_reason":"' },
  anthropic: { codec: anthropic, end: '"message_stop"' },
  gemini: { codec: gemini, end: '"finishReason"' },
  bedrock: { codec: bedrock, end: '"stopReason"' },
};

/** Each format, and the words by which its clients know that an answer is whole. */
const FORMATS: readonly [format: ChatFormat, marks: readonly RegExp[]][] = [
  [chatCompletion, [/\[DONE\]/u, /"finish_reason":"/u]],
  [openAiChat, [/\[DONE\]/u, /"finish_reason":"/u]],
  [completions, [/\[DONE\]/u, /"finish_reason":"/u]],
  [messages, [/message_stop/u, /"stop_reason":"/u]],
  [responses, [/response\.completed/u]],
  [streamGenerateContent, [/"finishReason"/u]],
];

/** What has come of an upstream's stream, and what broke it. */
interface Heard {
  deltas: readonly ChatDelta[];
  error?: UpstreamError;
}

/** The bytes in which a wire streams a turn. */
function streamed(wire: string, turn: Turn): Buffer {
  const paths: Record<string, string> = {
    gemini: '/models/m:streamGenerateContent',
    bedrock: '/model/m/converse-stream',
  };
  const received = { path: paths[wire] ?? '/', json: { stream: true } } as unknown as Received;
  const { chunks = [] } = WIRE_FAKES[wire]?.answer(turn, received) ?? {};
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as string)));
}

/** Reads what an upstream has sent that was cut after these bytes. */
async function heard(wire: string, bytes: Uint8Array): Promise<Heard> {
  const { codec } = WIRES[wire] as Wire;
  const { model = '' } = WIRE_FAKES[wire] ?? {};
  const upstream = upstreamAt(providerAt('http://127.0.0.1'), { model });
  async function* body(): AsyncGenerator<Uint8Array> {
    if (bytes.length > 0) yield await Promise.resolve(bytes);
  }
  const frames = codec.openFrames?.(LIMITS) ?? new EventReader(LIMITS);
  const reader = new StreamReader(body(), frames, codec.decodeStream(CALL, upstream));
  const deltas: ChatDelta[] = [];
  try {
    await reader.each((some) => void deltas.push(...some));
    return { deltas };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { deltas, error };
  }
}

/** The text and the arguments of calls. */
function replyTextIn({ deltas }: Heard): string {
  return deltas
    .flatMap(({ content, tool_calls = [] }) => [
      content ?? '',
      ...tool_calls.map((call) => call.function.arguments ?? ''),
    ])
    .join('');
}

/** What the client of a format gets of that. */
function written(format: ChatFormat, { deltas, error }: Heard): string {
  const writer = format.stream(HEAD, VISIBLE, WORK, EVENTS);
  const said = writer.frame(deltas);
  return said + (error ? writer.error(toClientError(error)) : writer.end(BILL));
}

describe('a stream whose upstream was cut after any of its bytes', () => {
  for (const [wire, { end }] of Object.entries(WIRES)) {
    for (const turn of TURNS) {
      const title = `${wire} with ${turn.calls ? 'a call' : 'a text'}`;
      const bytes = streamed(wire, turn);
      /** From here on the upstream has said how it ended. */
      const said = bytes.lastIndexOf(end) + 1;

      it(`looks whole in no format before ${title} has said how it ended`, async () => {
        const whole = await heard(wire, bytes);
        for (const [format, marks] of FORMATS) {
          for (const mark of marks) expect(written(format, whole), format.name).to.match(mark);
        }
        expect(said).to.be.greaterThan(1);
        for (let n = 0; n <= said; n += 1) {
          const cut = await heard(wire, bytes.subarray(0, n));
          expect(cut.error, `${n} bytes`).to.be.instanceOf(UpstreamError);
          for (const [format, marks] of FORMATS) refuseMarks(format, marks, cut, `${n} bytes`);
        }
      });

      it(`is whole or an error after all of the bytes of ${title}, never a part`, async () => {
        const whole = replyTextIn(await heard(wire, bytes));
        for (let n = said; n < bytes.length; n += 1) {
          const cut = await heard(wire, bytes.subarray(0, n));
          if (!cut.error) expect(replyTextIn(cut), `${n} bytes`).to.equal(whole);
        }
      });
    }
  }

  it('makes the real client of chat completions throw', async () => {
    const [turn = {}] = TURNS;
    const bytes = streamed('openai', turn);
    const said = bytes.lastIndexOf('"finish_reason":"') + 1;
    const read = async (heard: Heard): Promise<void> => {
      const stream = written(openAiChat, heard);
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
    await read(await heard('openai', bytes));
    const cuts = Array.from({ length: said }, (_, n) => heard('openai', bytes.subarray(0, n)));
    const outcomes = await Promise.allSettled((await Promise.all(cuts)).map(read));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.deep.equal([]);
  });
});

function refuseMarks(
  format: ChatFormat,
  marks: readonly RegExp[],
  cut: Heard,
  where: string,
): void {
  const stream = written(format, cut);
  // Called for every byte of each wire: the words of a failure are put together only then.
  for (const mark of marks)
    if (mark.test(stream)) expect.fail(`${format.name}, ${where}: ${stream}`);
  if (!/error/u.test(stream)) expect.fail(`${format.name}, ${where}: no error in ${stream}`);
}
