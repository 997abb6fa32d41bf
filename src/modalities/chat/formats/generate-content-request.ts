import { fieldError, GatewayError } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import { shortTier } from '../../../core/service-tiers.js';
import type { ChatCompletionBody } from '../../../schema-types/chat-completion.js';
import type {
  GeminiGenerationConfig,
  GenerateContentBody,
} from '../../../schema-types/generate-content.js';
import type { ChatRequest } from '../call.js';
import { ClientNames } from '../client-names.js';
import { messagesOf, type ContentReading } from './generate-content-contents.js';
import { ENUM, enumSchema } from './generate-content-enum.js';
import { CONTENT_SHAPE } from './generate-content-spelling.js';
import { jsonSchema, ownToolNames, toolsOf } from './generate-content-tools.js';
import { chatRequest, foreignFields } from './chat-completion.js';

/** Fields that are translated below. All others are passed on, or named as ignored. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
]);

/** Fields of chat completions that this API does not have. */
const FOREIGN = foreignFields([...TRANSLATED]);

const TIER = 'serviceTier';

/** Maps the name of a field in the call to its name in this API, for ignored fields. */
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    temperature: 'generationConfig.temperature',
    top_p: 'generationConfig.topP',
    top_k: 'generationConfig.topK',
    stop: 'generationConfig.stopSequences',
    presence_penalty: 'generationConfig.presencePenalty',
    frequency_penalty: 'generationConfig.frequencyPenalty',
    seed: 'generationConfig.seed',
    logprobs: 'generationConfig.responseLogprobs',
    top_logprobs: 'generationConfig.logprobs',
    response_format: 'generationConfig.responseMimeType',
    reasoning: 'generationConfig.thinkingConfig',
    reasoning_effort: 'generationConfig.thinkingConfig',
    thinking: 'generationConfig.thinkingConfig',
    tools: 'tools',
    messages: 'contents',
    n: 'generationConfig.candidateCount',
    max_tokens: 'generationConfig.maxOutputTokens',
    tool_choice: 'toolConfig',
    'messages[].reasoning_content': 'contents[].parts[].thought',
  }),
);

/** The largest thinking budget that each effort stands for, in rising order. */
const EFFORTS = [
  { effort: 'none', budget: 0 },
  { effort: 'minimal', budget: 512 },
  { effort: 'low', budget: 2_048 },
  { effort: 'medium', budget: 8_192 },
] as const;

/** The smallest budget of Anthropic's `thinking`. */
const LEAST_BUDGET = 1_024;

/**
 * A request of the Gemini API as a chat request for a model. Throws `GatewayError` if the model
 * cannot do it.
 */
export function contentRequest(
  body: GenerateContentBody,
  model: Model,
  stream: boolean,
): ChatRequest {
  const names = new ClientNames(new Map([...NAMES, ...tierName(body), ...ownToolNames(body)]));
  const { capabilities } = model;
  const reading: ContentReading = { capabilities, names, ignored: new Set() };
  const completion = toCompletion(body, model, { stream, reading });
  const request = names.reading(completion.messages, () => chatRequest(completion, model));
  const { thinkingConfig, responseMimeType } = body.generationConfig ?? {};
  // A tool of Google's own is known: it is passed on, or named already.
  const unknown = CONTENT_SHAPE.unknownFields(body).filter(
    (name) => !/^tools\[\]\.\w+$/u.test(name),
  );
  const foreign = Object.keys(body).filter((name) => FOREIGN.has(name));
  const left = request.ignored.map((name) => names.ofIgnored(name));
  return {
    ...request,
    names,
    shows_reasoning: true,
    hides_thoughts: thinkingConfig?.includeThoughts !== true,
    ...(responseMimeType === ENUM && { unwraps_value: true }),
    ignored: [...new Set([...left, ...foreign, ...unknown, ...reading.ignored])],
  };
}

function toCompletion(
  body: GenerateContentBody,
  model: Model,
  { stream, reading }: { stream: boolean; reading: ContentReading },
): ChatCompletionBody {
  if (body.cachedContent) {
    const message = 'cachedContent: no content is kept here; send it in contents.';
    throw new GatewayError('invalid_request', message, { param: 'cachedContent' });
  }
  const others = Object.entries(body).filter(
    ([name]) => !TRANSLATED.has(name) && !FOREIGN.has(name) && name !== TIER,
  );
  const { [TIER]: tier } = body as { [TIER]?: unknown };
  return {
    ...Object.fromEntries(others),
    ...(tier !== undefined && {
      service_tier: typeof tier === 'string' ? shortTier(tier) : tier,
    }),
    ...wordsOf(body.generationConfig ?? {}, model),
    ...toolsOf(body),
    model: model.id,
    stream,
    messages: messagesOf(body.contents, body.systemInstruction, reading),
  };
}

/** The tier by the name that the client gave it. */
function tierName(body: object): [string, string][] {
  return TIER in body ? [['service_tier', TIER]] : [];
}

function wordsOf(config: GeminiGenerationConfig, model: Model): Record<string, unknown> {
  const { maxOutputTokens, candidateCount, stopSequences } = config;
  refuseOthers(config);
  const fields: Record<string, unknown> = {
    max_tokens: maxOutputTokens,
    n: candidateCount,
    temperature: config.temperature,
    top_p: config.topP,
    top_k: config.topK,
    seed: config.seed,
    stop: stopSequences?.length ? stopSequences : undefined,
    presence_penalty: config.presencePenalty,
    frequency_penalty: config.frequencyPenalty,
    logprobs: config.responseLogprobs || undefined,
    top_logprobs: config.logprobs,
    response_format: formatOf(config),
    ...thinkingOf(config.thinkingConfig, model),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Refuses settings that would change the answer and that chat completions do not have. */
function refuseOthers({ responseModalities = [], responseFormat }: GeminiGenerationConfig): void {
  const isMore = responseModalities.some((one) => one.toUpperCase() !== 'TEXT');
  if (!isMore && responseFormat === undefined) return;
  const [name, reason] = isMore
    ? ['responseModalities', 'chat answers with TEXT alone']
    : ['responseFormat', 'send responseMimeType and responseJsonSchema'];
  const param = `generationConfig.${name}`;
  throw new GatewayError('unsupported_capability', `${param}: ${reason}.`, { param });
}

function formatOf(config: GeminiGenerationConfig): object | undefined {
  const { responseMimeType, responseSchema, responseJsonSchema } = config;
  const own = responseSchema && jsonSchema(responseSchema, 'generationConfig.responseSchema');
  const schema = responseJsonSchema ?? own;
  if (responseMimeType === ENUM) {
    if (!schema) throw fieldError('generationConfig.responseSchema', `is missing for ${ENUM}`);
    return { type: 'json_schema', json_schema: { name: 'answer', schema: enumSchema(schema) } };
  }
  if (schema) return { type: 'json_schema', json_schema: { name: 'answer', schema } };
  return responseMimeType === 'application/json' ? { type: 'json_object' } : undefined;
}

/** Thinking as the first of the fields that the model takes and that can express it. */
function thinkingOf(
  config: GeminiGenerationConfig['thinkingConfig'],
  { passthrough }: Model,
): Record<string, unknown> {
  const { thinkingLevel = '', thinkingBudget: budget = -1, includeThoughts } = config ?? {};
  const level = thinkingLevel.toLowerCase();
  const effort = level === 'thinking_level_unspecified' ? '' : level;
  if (!config || (effort === '' && budget < 0 && !includeThoughts)) return {};
  if (passthrough.has('reasoning')) {
    const amount = effort ? { effort } : budget > 0 ? { max_tokens: budget } : {};
    const isOff = !effort && budget === 0;
    return {
      reasoning: { ...amount, enabled: !isOff, ...(!includeThoughts && { exclude: true }) },
    };
  }
  if (!effort && budget >= LEAST_BUDGET && passthrough.has('thinking')) {
    return { thinking: { type: 'enabled', budget_tokens: budget } };
  }
  if (effort) return { reasoning_effort: effort };
  if (budget < 0) return {};
  const near = EFFORTS.find((one) => budget <= one.budget);
  return { reasoning_effort: near?.effort ?? 'high' };
}
