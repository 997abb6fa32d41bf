import type {
  ChatCompletionBody,
  ChatMessage,
  ContentPart,
  ToolCallPart,
  ToolEntry,
} from '../../../schema-types/chat-completion.js';
import type {
  GeminiContent,
  GeminiGenerationConfig,
  GeminiPart,
  GenerateContentBody,
} from '../../../schema-types/generate-content.js';
import { signedId } from '../../../lib/tool-id.js';
import type { ReasoningDetail } from '../codec.js';
import { foreignFields } from './openai-request.js';

/** Signatures of this form go back to Gemini alone. */
export const GEMINI_FORMAT = 'google-gemini-v1';
/** Stands where a call of another maker has no signature. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** Fields that are said in other words below; all others travel or are named as ignored. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'contents',
  'systemInstruction',
  'system_instruction',
  'tools',
  'toolConfig',
  'generationConfig',
]);

/** Budgets up to which an effort is meant, in rising order. */
const EFFORTS = [
  { effort: 'none', budget: 0 },
  { effort: 'minimal', budget: 512 },
  { effort: 'low', budget: 2_048 },
  { effort: 'medium', budget: 8_192 },
] as const;

/** A request of the Gemini API in the words of chat completions, and its fields without words. */
export function toCompletion(
  body: GenerateContentBody,
  model_id: string,
  stream: boolean,
): { body: ChatCompletionBody; ignored: string[] } {
  const system = body.systemInstruction ?? body.system_instruction;
  const reader = new ContentReader();
  const declared = (body.tools ?? []).flatMap(
    ({ functionDeclarations = [] }) => functionDeclarations,
  );
  const tools = declared.map((one): ToolEntry => {
    const { name, description, parametersJsonSchema, parameters } = one;
    const schema = parametersJsonSchema ?? parameters;
    return {
      type: 'function',
      function: {
        name,
        ...(description && { description }),
        ...(schema && { parameters: lowered(schema) }),
      },
    };
  });
  const others = Object.entries(body).filter(([name]) => !TRANSLATED.has(name));
  return {
    body: {
      ...withoutForeign(Object.fromEntries(others)),
      ...wordsOf(body.generationConfig ?? {}),
      ...(tools.length > 0 && { tools, ...choiceOf(body.toolConfig) }),
      model: model_id,
      stream,
      messages: [
        ...(system ? [{ role: 'system' as const, content: textIn(system.parts) }] : []),
        ...body.contents.flatMap((content) => reader.read(content)),
      ],
    },
    ignored: [
      ...Object.keys(body).filter((name) => FOREIGN.has(name)),
      ...Object.keys(body.generationConfig ?? {}).flatMap((name) =>
        FOREIGN.has(name) ? [`generationConfig.${name}`] : [],
      ),
      ...(body.tools ?? []).flatMap((tool) =>
        Object.keys(tool).flatMap((name) =>
          name === 'functionDeclarations' ? [] : [`tools[].${name}`],
        ),
      ),
    ],
  };
}

const FOREIGN = foreignFields(['temperature']);

/** Fields as they are, but those that this API does not have and chat completions do. */
function withoutForeign(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !FOREIGN.has(name)));
}

/** Types of the older schemas are in capitals. */
function lowered(schema: unknown): object {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === 'type' && typeof value === 'string' ? value.toLowerCase() : value,
  );
  return JSON.parse(text) as object;
}

function wordsOf(config: NonNullable<GeminiGenerationConfig>): Record<string, unknown> {
  const { thinkingConfig, responseMimeType, responseSchema, responseJsonSchema, ...rest } = config;
  const { maxOutputTokens, candidateCount, topP, topK, stopSequences, ...others } = rest;
  const { presencePenalty, frequencyPenalty, ...same } = others;
  const schema = responseJsonSchema ?? (responseSchema && lowered(responseSchema));
  const said: Record<string, unknown> = {
    ...withoutForeign(same),
    max_tokens: maxOutputTokens,
    n: candidateCount,
    top_p: topP,
    top_k: topK,
    stop: stopSequences?.length ? stopSequences : undefined,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    reasoning_effort: effortOf(thinkingConfig),
    response_format: schema
      ? { type: 'json_schema', json_schema: { name: 'answer', schema } }
      : responseMimeType === 'application/json'
        ? { type: 'json_object' }
        : undefined,
  };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

function effortOf(
  config: NonNullable<GeminiGenerationConfig>['thinkingConfig'],
): string | undefined {
  const { thinkingLevel, thinkingBudget } = config ?? {};
  if (thinkingLevel !== undefined) return thinkingLevel.toLowerCase();
  if (thinkingBudget === undefined || thinkingBudget < 0) return undefined;
  return EFFORTS.find(({ budget }) => thinkingBudget <= budget)?.effort ?? 'high';
}

function choiceOf(config: GenerateContentBody['toolConfig']): Record<string, unknown> {
  const { mode, allowedFunctionNames: names = [] } = config?.functionCallingConfig ?? {};
  const [only] = names;
  if (mode === 'ANY' && only !== undefined && names.length === 1) {
    return { tool_choice: { type: 'function', function: { name: only } } };
  }
  const words: Record<string, string> = { AUTO: 'auto', ANY: 'required', NONE: 'none' };
  const word = words[mode ?? ''];
  return word === undefined ? {} : { tool_choice: word };
}

/** Reads contents in their order: a result that names no call answers the first one waiting. */
class ContentReader {
  #made = 0;
  readonly #waiting: { id: string; plain: string; name: string }[] = [];

  read({ role, parts }: GeminiContent): ChatMessage[] {
    return role === 'model' ? [this.#assistant(parts)] : this.#user(parts);
  }

  #assistant(parts: readonly GeminiPart[]): ChatMessage {
    const calls = parts.flatMap((part) => this.#callOf(part));
    const text = textIn(parts.filter(({ thought }) => thought !== true));
    const details = parts.flatMap(detailOf);
    return {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(details.length > 0 && { reasoning_details: details }),
    };
  }

  #callOf({ functionCall, thoughtSignature }: GeminiPart): ToolCallPart[] {
    if (!functionCall) return [];
    const { name, args = {} } = functionCall;
    this.#made += 1;
    const plain = functionCall.id ?? `call_${this.#made}`;
    const isSigned = thoughtSignature !== undefined && thoughtSignature !== NO_SIGNATURE;
    const id = isSigned ? signedId(plain, thoughtSignature) : plain;
    this.#waiting.push({ id, plain, name });
    return [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }];
  }

  #user(parts: readonly GeminiPart[]): ChatMessage[] {
    const results = parts.flatMap((part): ChatMessage[] => {
      if (!part.functionResponse) return [];
      const { id, name, response, parts: media = [] } = part.functionResponse;
      const text = JSON.stringify(response);
      const shown = media.flatMap(partOf);
      const content = shown.length === 0 ? text : [{ type: 'text' as const, text }, ...shown];
      return [{ role: 'tool', tool_call_id: this.#answered(id, name), content }];
    });
    const said = parts.flatMap(partOf);
    if (said.length === 0) return results;
    const isText = said.every(({ type }) => type === 'text');
    return [...results, { role: 'user', content: isText ? textIn(parts) : said }];
  }

  #answered(id: string | undefined, name: string): string {
    const at = this.#waiting.findIndex((one) => (id ? one.plain === id : one.name === name));
    const [call] = at < 0 ? [] : this.#waiting.splice(at, 1);
    return call?.id ?? id ?? name;
  }
}

function detailOf({ thoughtSignature, functionCall }: GeminiPart): ReasoningDetail[] {
  if (thoughtSignature === undefined || functionCall) return [];
  return [{ type: 'reasoning.encrypted', data: thoughtSignature, format: GEMINI_FORMAT }];
}

function partOf({ text, inlineData, fileData, thought }: GeminiPart): ContentPart[] {
  if (text) return thought === true ? [] : [{ type: 'text', text }];
  const { mimeType = '', data = '' } = inlineData ?? {};
  const url = fileData?.fileUri ?? `data:${mimeType};base64,${data}`;
  if (!inlineData && !fileData) return [];
  const type = fileData?.mimeType ?? mimeType;
  if (type.startsWith('image/')) return [{ type: 'image_url', image_url: { url } }];
  if (inlineData && type.startsWith('audio/')) {
    const format = /wav/u.test(type) ? 'wav' : 'mp3';
    return [{ type: 'input_audio', input_audio: { data, format } }];
  }
  return [{ type: 'file', file: { file_data: url } }];
}

function textIn(parts: readonly GeminiPart[]): string {
  return parts.flatMap(({ text }) => (text ? [text] : [])).join('\n');
}
