import type { Bill } from '../../../billing/bill.js';
import type { GatewayError } from '../../../core/errors.js';
import type { TokenUsage } from '../../../core/usage.js';
import { isRecord } from '../../../lib/is-record.js';
import { plainId, signatureOf } from '../../../lib/tool-id.js';
import { spendingEndpoint } from '../../../pipeline/fallback.js';
import type { GenerateContentBody } from '../../../schema-types/generate-content.js';
import type { ChatChoice, ChatDelta, ToolCall } from '../codec.js';
import type { Heading, Shown } from '../call.js';
import { EventWriter } from './event-writer.js';
import type { ChatFormat } from './format.js';
import { GEMINI_FORMAT, toCompletion } from './generate-content-request.js';
import { finishReason } from './openai-answer.js';
import { chatWork } from './openai-request.js';

/** The Gemini API, as Google's SDKs and its command line speak it, for every chat model. */
export const generateContent = formatOf('generate-content', 'generateContent', false);
/** The same as a stream of events, each an answer with the next pieces. */
export const streamGenerateContent = formatOf(
  'stream-generate-content',
  'streamGenerateContent',
  true,
);

function formatOf(name: string, method: string, streams: boolean): ChatFormat {
  const answer = 'generate-content#/$defs/answer';
  return {
    name,
    key_header: 'x-goog-api-key',
    endpoint: spendingEndpoint(name, `POST /v1beta/models/{model}:${method}`, {
      modality: 'chat',
      format: name,
    }),
    description: {
      summary: `Generate content, in the words of the Gemini API${streams ? ', as a stream' : ''}`,
      status: 200,
      content: { [streams ? 'text/event-stream' : 'application/json']: answer },
    },
    modelOf: (_, { model = '' }) => model,
    read: (body, model) => {
      // The schema vouches for the body: its type is made from it.
      const said = toCompletion(body as GenerateContentBody, model.id, streams);
      const work = chatWork(said.body, model);
      return { ...work, ignored: [...work.ignored, ...said.ignored] };
    },
    write: (heading, reply, { usage }) => ({
      candidates: reply.choices.map((choice) =>
        candidate(choice.index, partsOf(choice), finishOf(choice)),
      ),
      usageMetadata: usageOf(usage),
      ...headOf(heading),
    }),
    stream: (heading, shown) => new ContentWriter(heading, shown),
    error: errorOf,
  };
}

function headOf({ id, model }: Heading): object {
  return { modelVersion: model, responseId: id.replace(/^chatcmpl-/u, '') };
}

function candidate(index: number, parts: readonly object[], finish?: string): object {
  const content = { role: 'model', parts };
  return { content, ...(finish !== undefined && { finishReason: finish }), index };
}

function partsOf({ content, reasoning_content, reasoning_details, tool_calls = [] }: ChatChoice) {
  const signed = (reasoning_details ?? []).flatMap((detail) =>
    detail.format === GEMINI_FORMAT && detail.data
      ? [{ text: '', thoughtSignature: detail.data }]
      : [],
  );
  return [
    ...(reasoning_content ? [{ text: reasoning_content, thought: true }] : []),
    ...(content ? [{ text: content }] : []),
    ...tool_calls.map(callPart),
    ...signed,
  ];
}

function callPart({ id, function: { name, arguments: args } }: ToolCall): object {
  const thoughtSignature = signatureOf(id);
  const functionCall = { id: plainId(id), name, args: parsed(args) };
  return { functionCall, ...(thoughtSignature !== undefined && { thoughtSignature }) };
}

/** Arguments are an object here; a text that is none is kept as one field. */
function parsed(args: string): object {
  try {
    const value: unknown = JSON.parse(args || '{}');
    if (isRecord(value)) return value;
  } catch {
    // A model may break off in the middle of its arguments.
  }
  return { arguments: args };
}

const FINISHES: Readonly<Record<string, string>> = {
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
};

function finishOf({ finish_reason, tool_calls }: Pick<ChatChoice, 'finish_reason' | 'tool_calls'>) {
  return FINISHES[finishReason(finish_reason, Boolean(tool_calls))] ?? 'STOP';
}

function usageOf(usage: TokenUsage): object {
  const { prompt_tokens, completion_tokens, reasoning_tokens = 0, cached_tokens } = usage;
  const thoughts = Math.min(reasoning_tokens, completion_tokens);
  return {
    promptTokenCount: prompt_tokens,
    candidatesTokenCount: completion_tokens - thoughts,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    ...(cached_tokens !== undefined && { cachedContentTokenCount: cached_tokens }),
    totalTokenCount: prompt_tokens + completion_tokens,
  };
}

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function errorOf({ status: code, message }: GatewayError): object {
  return { error: { code, message, status: STATUSES[code] ?? 'INTERNAL' } };
}

interface Choice {
  index: number;
  hasCalls: boolean;
  finish: string | undefined;
  /** The tool call that fragments are still added to. */
  call: (ToolCall & { index: number }) | undefined;
}

/** Tool calls go out whole: this API has no pieces of arguments. */
class ContentWriter extends EventWriter {
  readonly #head: object;
  readonly #choices = new Map<number, Choice>();

  constructor(heading: Heading, shown: Shown) {
    super(shown);
    this.#head = headOf(heading);
  }

  end({ usage }: Bill): string {
    const candidates = [...this.#choices].map(([index, choice]) => {
      const parts = this.#endCall(choice);
      const tool_calls: ToolCall[] | undefined = choice.hasCalls ? [] : undefined;
      const finish = finishOf({
        finish_reason: choice.finish ?? null,
        ...(tool_calls && { tool_calls }),
      });
      return candidate(index, parts, finish);
    });
    return this.#event({ candidates, usageMetadata: usageOf(usage) });
  }

  error(error: GatewayError): string {
    return `data: ${JSON.stringify(errorOf(error))}\r\n\r\n`;
  }

  protected piece(piece: ChatDelta, index: number): string {
    const parts = this.#partsOf(piece, this.#choice(index));
    return parts.length > 0 ? this.#event({ candidates: [candidate(index, parts)] }) : '';
  }

  #choice(index: number): Choice {
    const known = this.#choices.get(index);
    if (known) return known;
    const fresh: Choice = { index, hasCalls: false, finish: undefined, call: undefined };
    this.#choices.set(index, fresh);
    return fresh;
  }

  #partsOf(piece: ChatDelta, choice: Choice): object[] {
    const parts: object[] = [];
    const { content, reasoning_content, reasoning_details = [], finish_reason } = piece;
    if (this.shown.reasoning && reasoning_content) {
      this.heard(reasoning_content, choice.index);
      parts.push({ text: reasoning_content, thought: true });
    }
    if (content) {
      this.heard(content, choice.index);
      parts.push(...this.#endCall(choice), { text: content });
    }
    if (this.shown.tools) parts.push(...this.#callsOf(piece, choice));
    for (const { format, data } of this.shown.reasoning ? reasoning_details : []) {
      if (format === GEMINI_FORMAT && data) parts.push({ text: '', thoughtSignature: data });
    }
    if (finish_reason !== undefined) choice.finish = finish_reason;
    return parts;
  }

  #callsOf({ tool_calls = [] }: ChatDelta, choice: Choice): object[] {
    const ended: object[] = [];
    for (const { index, id = '', function: called } of tool_calls) {
      const { name = '', arguments: args = '' } = called;
      this.heard(name + args, choice.index);
      choice.hasCalls = true;
      if (choice.call?.index !== index) {
        ended.push(...this.#endCall(choice));
        choice.call = { index, id, type: 'function', function: { name, arguments: '' } };
      }
      choice.call.function.arguments += args;
    }
    return ended;
  }

  #endCall(choice: Choice): object[] {
    const { call } = choice;
    choice.call = undefined;
    return call ? [callPart(call)] : [];
  }

  #event(data: object): string {
    return `data: ${JSON.stringify({ ...data, ...this.#head })}\r\n\r\n`;
  }
}
