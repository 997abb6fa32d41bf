import { setTimeout as wait } from 'node:timers/promises';
import { isRecord } from '../src/lib/objects.js';
import type { LocalUpstream, WireReply, WireRequest } from '../src/core/provider.js';
import { complete, promptTokens, type Completion } from './simulator/chat.js';
import { answerEmbeddings } from './simulator/embedding.js';
import { answerImages } from './simulator/image.js';
import { answerModerations } from './simulator/moderation.js';
import { hash } from './simulator/fake-text.js';
import { answerSpeech, answerTranscription } from './simulator/sound.js';
import { answerVideos } from './simulator/video.js';
import {
  formIn,
  NOT_JSON,
  numberIn,
  parse,
  refuse,
  respond,
  type BodyFields,
  type Refusal,
} from './simulator/wire.js';

export { video } from './simulator/codec.js';

/** The settings that `answer` reads. */
export const settings = ['first_token_ms', 'tokens_per_second', 'video_takes', 'fail'] as const;

type Settings = LocalUpstream['settings'];

const FOREVER_MS = 2 ** 31 - 1;

/** The ways to fail, for drills, that are an answer with a status. */
const DRILLS: ReadonlyMap<number, Refusal> = new Map([
  [400, { ...NOT_JSON, message: 'The drill finds your request wanting.' }],
  [429, { status: 429, type: 'rate_limit_error', message: 'The drill asks you to slow down.' }],
  [500, { status: 500, type: 'server_error', message: 'The drill has fallen off its chair.' }],
]);

/**
 * A model that costs nothing and needs no network: it speaks the wires of chat, images, embeddings
 * and sound, and one for video jobs, and answers the same to the same request. Settings:
 * `first_token_ms` and `tokens_per_second` set its pace (0, the default, is at once), `video_takes`
 * that of a video; `fail` (400, 429, 500, timeout or cut) lets an operator practise. Rejects when
 * `signal` is aborted.
 */
export async function answer(
  request: WireRequest,
  settings: Settings,
  signal: AbortSignal,
): Promise<WireReply> {
  const { fail } = settings;
  if (fail === 'timeout') await wait(FOREVER_MS, undefined, { signal });
  const drill = DRILLS.get(Number(fail));
  if (drill) return refuse(drill);
  const url = new URL(request.path, 'http://simulator.invalid');
  if (/^\/videos(\/|$)/u.test(url.pathname)) return answerVideos(request, url, settings);
  if (/^\/audio\/trans(cription|lation)s$/u.test(url.pathname)) {
    return answerTranscription(request, fail === 'cut');
  }
  const isForm = url.pathname === '/images/edits';
  const body = isForm ? await formIn(request) : parse(request.body);
  if (!body) return refuse(NOT_JSON);
  if (url.pathname === '/images/generations' || isForm) return answerImages(body, fail === 'cut');
  if (url.pathname === '/audio/speech') return answerSpeech(body, fail === 'cut');
  if (url.pathname === '/moderations') return answerModerations(body, fail === 'cut');
  if (url.pathname === '/embeddings') return answerEmbeddings(body, fail === 'cut');
  const delay_ms = numberIn(settings, 'first_token_ms') ?? 0;
  if (delay_ms > 0) await wait(delay_ms, undefined, { signal });
  const call: SimulatedCall = {
    body,
    completions: complete(body),
    settings,
    signal,
    isCut: fail === 'cut',
  };
  return body.stream === true
    ? respond(200, 'text/event-stream', stream(call))
    : respond(200, 'application/json', whole(call));
}

/** Everything about one call that its answer is made from. */
interface SimulatedCall {
  body: BodyFields;
  completions: Completion[];
  settings: Settings;
  signal: AbortSignal;
  isCut: boolean;
}

async function* whole(call: SimulatedCall): AsyncGenerator<Uint8Array> {
  const { completions, isCut } = call;
  for (const _ of completions.flatMap(({ tokens }) => tokens)) await pause(call);
  const choices = completions.map(({ tokens, call, finish }, index) => ({
    index,
    message: {
      role: 'assistant',
      content: call ? null : tokens.join(''),
      ...(call && { tool_calls: [call] }),
    },
    logprobs: null,
    finish_reason: finish,
  }));
  const document = { ...heading(call, 'chat.completion'), choices, usage: usage(call) };
  const text = JSON.stringify(document);
  yield Buffer.from(isCut ? text.slice(0, text.length / 2) : text);
  if (isCut) throw new Error('The drill cut the answer.');
}

async function* stream(call: SimulatedCall): AsyncGenerator<Uint8Array> {
  const { body, completions, isCut } = call;
  const head = heading(call, 'chat.completion.chunk');
  const writeDelta = (
    index: number,
    delta: BodyFields,
    finish_reason: string | null = null,
  ): Buffer => event({ ...head, choices: [{ index, delta, logprobs: null, finish_reason }] });
  for (const index of completions.keys())
    yield writeDelta(index, { role: 'assistant', content: '' });
  const longest = Math.max(...completions.map(({ tokens }) => tokens.length));
  for (let at = 0; at < longest; at += 1) {
    if (isCut && at >= longest / 2) throw new Error('The drill cut the stream.');
    for (const [index, completion] of completions.entries()) {
      if (at >= completion.tokens.length) continue;
      await pause(call);
      yield writeDelta(index, deltaOf(completion, at));
    }
  }
  for (const [index, { finish }] of completions.entries()) yield writeDelta(index, {}, finish);
  if (isRecord(body.stream_options) && body.stream_options.include_usage === true) {
    yield event({ ...head, choices: [], usage: usage(call) });
  }
  yield Buffer.from('data: [DONE]\n\n');
}

function deltaOf({ tokens, call }: Completion, at: number): BodyFields {
  const token = tokens[at] ?? '';
  if (!call) return { content: token };
  const { id, type } = call;
  const fragment =
    at === 0
      ? { index: 0, id, type, function: { name: call.function.name, arguments: token } }
      : { index: 0, function: { arguments: token } };
  return { tool_calls: [fragment] };
}

function heading({ body }: SimulatedCall, object: string): BodyFields {
  const id = hash(JSON.stringify(body)).toString(16).padStart(8, '0');
  const created = Math.floor(Date.now() / 1_000);
  return { id: `chatcmpl-${id}`, object, created, model: body.model };
}

function usage({ body, completions }: SimulatedCall): BodyFields {
  const prompt_tokens = promptTokens(body);
  const completion_tokens = completions.flatMap(({ tokens }) => tokens).length;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** The time that one token takes. */
async function pause({ settings, signal }: SimulatedCall): Promise<void> {
  const pace = numberIn(settings, 'tokens_per_second') ?? 0;
  if (pace > 0) await wait(1_000 / pace, undefined, { signal });
}

function event(chunk: BodyFields): Buffer {
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
}
