import { GatewayError } from '../../../core/errors.js';
import type { ChatCompletionBody } from '../../../schema-types/chat-completion.js';
import type { ChatCall } from '../codec.js';
import { LEGACY_FIELDS, READ_FIELDS, SAMPLING_FIELDS, TOOL_FIELDS } from './openai-fields.js';
import { headerSafe } from '../../../http/request-body.js';
import { readMessages } from './openai-messages.js';
import { readTools, refuseLegacy } from './openai-tools.js';
import type { Model } from '../../../core/model.js';
import type { PromptSize, ChatWork } from '../call.js';

/** Output tokens of a completion for which neither the client nor the file names a limit. */
const DEFAULT_MAX_TOKENS = 4096;
/** Levels of objects and lists in a field that is sent on as it is. */
const NESTING = 200;

/** Neither sent on as they are nor named as ignored. */
const READ = new Set(READ_FIELDS);
const SAMPLING = new Set(SAMPLING_FIELDS);
const TOOLS = new Set(TOOL_FIELDS);
const LEGACY = new Set(LEGACY_FIELDS);

/**
 * Fits a valid body to a model: capability gates, aliases, passthrough, limits (specification 2.1
 * to 2.3). Throws `GatewayError` for what the model cannot take.
 */
export function chatWork(body: ChatCompletionBody, model: Model): ChatWork {
  const ignored = new Set<string>();
  const { messages, size } = readMessages(body.messages, model.capabilities, ignored);
  const call: ChatCall = {
    messages,
    stream: body.stream ?? false,
    n: body.n ?? 1,
    max_tokens: maxTokens(body, model),
    fields: travelling(body, model, size, ignored),
  };
  const { include_usage } = (body.stream_options ?? {}) as { include_usage?: unknown };
  const asked = include_usage === true ? { include_usage } : {};
  return { kind: 'chat', call, size, ...asked, ignored: [...ignored] };
}

function travelling(
  body: ChatCompletionBody,
  model: Model,
  size: PromptSize,
  ignored: Set<string>,
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const tools = body.tools && readTools(body.tools, model, ignored);
  for (const [name, said] of Object.entries(body)) {
    if (READ.has(name)) continue;
    const value = name === 'tools' ? tools : said;
    if (SAMPLING.has(name)) fields[name] = value;
    else if (model.passthrough.has(name) || (TOOLS.has(name) && model.capabilities.has('tools'))) {
      refuseDeep(name, value);
      fields[name] = value;
      // Tools and schemas are read by the model too, so they count as prompt.
      size.text_bytes += Buffer.byteLength(JSON.stringify(value));
    } else {
      if (LEGACY.has(name)) refuseLegacy(value, name);
      ignored.add(headerSafe(name));
    }
  }
  return fields;
}

/** A value that no one could write down again must not come as far as the wire. */
function refuseDeep(param: string, value: unknown): void {
  if (!isDeeper(value, NESTING)) return;
  const message = `${param} must not be nested more than ${NESTING} levels deep.`;
  throw new GatewayError('invalid_request', message, { param });
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function maxTokens(body: ChatCompletionBody, model: Model): number | undefined {
  const { max_tokens: old, max_completion_tokens: alias } = body;
  if (old !== undefined && alias !== undefined && old !== alias) {
    throw new GatewayError(
      'invalid_request',
      'max_tokens and max_completion_tokens mean the same; send one of them.',
      { param: 'max_completion_tokens' },
    );
  }
  const asked = alias ?? old;
  const limit = model.limits.max_tokens;
  if (asked !== undefined && limit !== undefined && asked > limit) {
    throw new GatewayError(
      'invalid_request',
      `max_tokens is ${asked}, but ${model.id} gives at most ${limit}.`,
      { param: old === undefined ? 'max_completion_tokens' : 'max_tokens' },
    );
  }
  // A paid answer must not outgrow its hold, so one limit or another is always sent.
  return asked ?? limit ?? (isFree(model) ? undefined : DEFAULT_MAX_TOKENS);
}

function isFree(model: Model): boolean {
  return model.upstreams.every(({ price }) => price.free);
}
