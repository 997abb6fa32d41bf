import type { ChatCall, ChatCodec, ToolRules } from '../../src/modalities/chat/codec.js';
import type { Encoded } from '../../src/core/provider.js';
import type { Upstream } from '../../src/core/model.js';
import { isPlainTier } from '../../src/core/service-tiers.js';
import { modelOf, objectIn, type GeminiObject } from '../gemini-wire.js';
import { decode } from './answer.js';
import { conversationOf } from './contents.js';
import { CHAT_FIELDS, generationConfigOf } from './generation-config.js';
import { writeJsonWithTools } from './json-with-tools.js';
import { decodeStream } from './stream.js';
import { toolsOf } from './tools.js';

/** Fields of a request's body that clients may set where their model lists them. */
const BODY_FIELDS: readonly string[] = ['safetySettings', 'labels'];

/** Fields that only the gateway sets: the prompt, and those on which the hold is based. */
const FIXED: readonly string[] = ['contents', 'systemInstruction', 'model', 'toolConfig'];
const FIXED_CONFIG: readonly string[] = ['maxOutputTokens', 'candidateCount'];

/** What Gemini takes of tools. The IDs of calls hold the signatures that it demands back. */
const TOOL_RULES: ToolRules = {
  names: { illegal: /[^a-zA-Z0-9_.:-]/gu, first: /^[a-zA-Z_]/u, max: 64 },
};

/** How a service tier is asked for. */
interface TierWords {
  body?: GeminiObject;
  headers?: Record<string, string>;
}

/** What the two APIs with Gemini's models say in words of their own. */
export interface OwnWords {
  pathOf: (model: string) => string;
  tierOf: (tier: string) => TierWords;
}

/**
 * Chat with Gemini's models, whose calls go to `pathOf` of the model, and ask for a service tier by
 * what `tierOf` says. An upstream's `set` gives fields of the chat contract, or fields of the body
 * such as `safetySettings`.
 */
export function geminiChat(words: OwnWords): ChatCodec {
  return {
    encode: (call, upstream) => encode(call, upstream, words),
    decode,
    decodeStream,
    toolRules: () => TOOL_RULES,
  };
}

/** What a call says of its service tier, if it has another one than the plain one. */
export function askedTier(tier: unknown, { tierOf }: OwnWords): TierWords {
  return typeof tier === 'string' && !isPlainTier(tier) ? tierOf(tier) : {};
}

function encode(call: ChatCall, upstream: Upstream, words: OwnWords): Encoded {
  const model = modelOf(upstream.model);
  const ignored = new Set<string>();
  const fields = fieldsOf(call, upstream);
  const body: GeminiObject = {
    ...conversationOf(call.messages, model, ignored),
    ...toolsOf(fields, ignored),
    generationConfig: {
      ...generationConfigOf(call, fields, model, ignored),
      ...ownConfig(upstream),
    },
  };
  writeJsonWithTools(body, model);
  for (const name of Object.keys(call.fields)) {
    if (!CHAT_FIELDS.has(name) && !BODY_FIELDS.includes(name)) ignored.add(name);
  }
  const verb = call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  const asked = askedTier(fields.service_tier, words);
  return {
    path: `${words.pathOf(model)}:${verb}`,
    body: { ...ownFields(fields, upstream), ...body, ...asked.body },
    ...(asked.headers && { headers: asked.headers }),
    ignored: [...ignored],
  };
}

/** The fields of a call, as the upstream's entry drops and sets them. */
function fieldsOf({ fields }: ChatCall, { drop, set }: Upstream): GeminiObject {
  const changed: GeminiObject = { ...fields };
  for (const name of drop) {
    // Without the choice, the model would call tools that the client has forbidden.
    if (name === 'tool_choice' && changed[name] === 'none') delete changed.tools;
    delete changed[name];
  }
  return Object.assign(changed, set);
}

/** Fields of this wire that an operator sets or a client passes through. */
function ownFields(fields: GeminiObject, { set }: Upstream): GeminiObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => {
      if (CHAT_FIELDS.has(name) || FIXED.includes(name)) return false;
      return BODY_FIELDS.includes(name) || Object.hasOwn(set, name);
    }),
  );
}

function ownConfig({ set }: Upstream): GeminiObject {
  const own = Object.entries(objectIn(set, 'generationConfig'));
  return Object.fromEntries(own.filter(([name]) => !FIXED_CONFIG.includes(name)));
}
