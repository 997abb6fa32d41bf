import type { ChatCall, ChatCodec } from '../src/modalities/chat/codec.js';
import type { VideoCodec } from '../src/modalities/video/codec.js';
import { VERTEX_BETAS } from './anthropic/betas.js';
import { claudeCodec, wire_flags as claude_flags } from './anthropic/codec.js';
import { isClaude } from './anthropic/models.js';
import { imageCodec } from './gemini-image.js';
import { geminiChat, type OwnWords } from './gemini/chat.js';
import { broken, countIn, listIn, modelOf, textIn, type GeminiObject } from './gemini-wire.js';
import {
  isVeo2,
  operationIn,
  refuseVeo,
  stateText,
  textsIn,
  veoBody,
  veoPath,
  veoProgress,
  type Outcome,
} from './veo.js';
import type { JsonObject } from '../src/core/json.js';
import type { ContentSource } from '../src/core/task.js';
import type { Encoded } from '../src/core/provider.js';
import type { Upstream } from '../src/core/model.js';
import { isRecord } from '../src/lib/objects.js';

const MODELS = '/publishers/google/models';
const CLAUDE_MODELS = '/publishers/anthropic/models';
const STORAGE = 'https://storage.googleapis.com';

/** The wire flags that these codecs read. */
export const wire_flags = ['storage_url', ...claude_flags] as const;

const WORDS: OwnWords = {
  pathOf: (model) => `${MODELS}/${model}`,
  tierOf: (tier) => ({ headers: { 'x-vertex-ai-llm-shared-request-type': tier } }),
};
const gemini = geminiChat(WORDS);

/** Claude on Vertex AI: the path has the model, and whether the answer streams. */
const messages = claudeCodec({
  pathOf: ({ stream }, { model }) => {
    return `${CLAUDE_MODELS}/${modelOf(model)}:${stream ? 'streamRawPredict' : 'rawPredict'}`;
  },
  envelope: { anthropic_version: 'vertex-2023-10-16' },
  features: { taken: VERTEX_BETAS, are_in: 'header' },
});

/** The same, asked to think by `reasoning` too, which Gemini's models take beside it. */
const claude: ChatCodec = { ...messages, encode: encodeClaude };

const THINKING = ['thinking', 'reasoning_effort'] as const;

function encodeClaude(call: ChatCall, upstream: Upstream): Encoded {
  const { reasoning, ...others } = call.fields;
  const isSaid = THINKING.some((name) => others[name] !== undefined && others[name] !== null);
  if (isSaid || !isRecord(reasoning) || upstream.drop.includes('reasoning')) {
    return messages.encode(call, upstream);
  }
  const fields = { ...others, ...thinkingOf(reasoning) };
  const encoded = messages.encode({ ...call, fields }, upstream);
  const ignored = (encoded.ignored ?? []).map((name) =>
    THINKING.some((one) => one === name) ? 'reasoning' : name,
  );
  if (reasoning.exclude === true) ignored.push('reasoning.exclude');
  return { ...encoded, ignored };
}

/** Thinking in the words that the Messages API's codec knows. */
function thinkingOf({ effort, max_tokens, enabled }: GeminiObject): GeminiObject {
  if (enabled === false) return { reasoning_effort: 'none' };
  if (Number.isSafeInteger(max_tokens)) {
    return { thinking: { type: 'enabled', budget_tokens: max_tokens } };
  }
  return { reasoning_effort: typeof effort === 'string' ? effort : 'medium' };
}

/** Chat of Vertex AI, by Gemini's models or by Claude's. */
export const chat: ChatCodec = {
  encode: (call, upstream) => codecOf(upstream).encode(call, upstream),
  decode: (body, call, upstream) => codecOf(upstream).decode(body, call, upstream),
  decodeStream: (call, upstream) => codecOf(upstream).decodeStream(call, upstream),
  toolRules: (call, upstream) => codecOf(upstream).toolRules?.(call, upstream),
  cacheMarks: (upstream) => codecOf(upstream).cacheMarks?.(upstream),
  estimateTokens: (parts, call, upstream) =>
    codecOf(upstream).estimateTokens?.(parts, call, upstream),
};

function codecOf({ model }: Upstream): ChatCodec {
  return isClaude(model) ? claude : gemini;
}

/** Images of Vertex AI, made by Gemini's image models. */
export const image = imageCodec(WORDS);

/**
 * Videos of Vertex AI, made by Veo, up to four in a call. The answer of a poll contains them,
 * unless the upstream of the model has `set: { storageUri: gs://BUCKET/FOLDER/ }`: then they are
 * fetched from that bucket. A manifest's `wire.storage_url` replaces the address of Google's
 * storage.
 */
export const video: VideoCodec = {
  refuse: (call, { model }) => refuseVeo(call, model),

  submit: (call, upstream) => ({
    method: 'POST',
    path: veoPath(MODELS, upstream.model),
    body: veoBody(call, upstream, {
      sampleCount: call.sample_count,
      ...(!isVeo2(upstream.model) && { generateAudio: call.generate_audio }),
    }),
    credentials: true,
  }),

  submitted: (body, _, upstream) => ({ name: operationIn(body, upstream) }),

  poll: (state) => ({
    method: 'POST',
    path: `${pathOf(state)}:fetchPredictOperation`,
    body: { operationName: stateText(state, 'name') },
    credentials: true,
  }),

  too_large: 'The videos are too large for one answer: the upstream entry needs a storageUri.',

  polled: (answer, state, upstream) =>
    veoProgress(answer, upstream, (response) => outcome(response, state, upstream)),
};

/** The path of a poll: that of the model to which the operation belongs. */
function pathOf(state: JsonObject): string {
  const name = stateText(state, 'name');
  const model = /\/publishers\/google\/models\/([^/]+)\/operations\//u.exec(name)?.[1];
  if (model === undefined) throw broken('The upstream began no video.');
  return `${MODELS}/${model}`;
}

function outcome(response: GeminiObject, state: JsonObject, upstream: Upstream): Outcome {
  return {
    videos: listIn(response, 'videos').map((film, i) => {
      const uri = textIn(film, 'gcsUri');
      if (uri !== undefined) return stored(uri, upstream);
      if (textIn(film, 'bytesBase64Encoded') === undefined) {
        throw broken('The upstream does not say where the video is.');
      }
      const base64_at = ['response', 'videos', i, 'bytesBase64Encoded'];
      return { request: video.poll(state, upstream), base64_at };
    }),
    reasons: textsIn(response, 'raiMediaFilteredReasons'),
    held_back: countIn(response, 'raiMediaFilteredCount'),
  };
}

function stored(uri: string, { provider }: Upstream): ContentSource {
  const [, bucket, object] = /^gs:\/\/([a-z0-9][a-z0-9._-]*)\/(.+)$/u.exec(uri) ?? [];
  if (bucket === undefined || object === undefined) {
    throw broken('The upstream does not say where the video is.');
  }
  const { storage_url } = provider.wire;
  const origin = typeof storage_url === 'string' ? storage_url : STORAGE;
  const path = `${origin}/storage/v1/b/${bucket}/o/${encodeURIComponent(object)}?alt=media`;
  return { request: { method: 'GET', path, credentials: true } };
}
