import type {
  ChatCall,
  ChatChoice,
  ChatReply,
  ReasoningDetail,
  ToolCall,
} from '../../src/modalities/chat/codec.js';
import { BETWEEN_THOUGHTS } from '../anthropic/decode.js';
import { isIndex } from '../openai/answer.js';
import { countsOfNames } from '../openai/tool-counts.js';
import type { UpstreamUsage } from '../../src/core/usage.js';
import type { Upstream } from '../../src/core/model.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import { broken } from './errors.js';
import { targetOf, type Target } from './model.js';
import { detailsOf } from './reasoning.js';
import { outputTool } from './structured.js';

/** Reasons for the end of an answer, in the words of the OpenAI wire. */
const FINISH: ReadonlyMap<string, string> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['malformed_model_output', 'stop'],
  ['malformed_tool_use', 'stop'],
]);

/** Throws `broken` if the stop reason is a failure and the answer is empty. */
export function finishOf(reason: unknown, hasSpoken: boolean): string | null {
  if (typeof reason !== 'string') return null;
  if (!hasSpoken && reason.startsWith('malformed_')) {
    throw broken('The upstream could not read what its model wrote.');
  }
  return FINISH.get(reason) ?? reason;
}

/** The counters of a report. The fields that end in `Count` have the same values. */
export function countersIn(usage: Record<string, unknown>): Record<string, unknown> {
  return {
    input: usage.inputTokens,
    output: usage.outputTokens,
    cached: usage.cacheReadInputTokens ?? usage.cacheReadInputTokenCount,
    written: usage.cacheWriteInputTokens ?? usage.cacheWriteInputTokenCount,
    hours: recordsIn(usage.cacheDetails).find(({ ttl }) => ttl === '1h')?.inputTokens,
  };
}

/** The service tier of a whole answer, or of the last event of a stream. */
export function tierOf({ serviceTier }: Record<string, unknown>): string | undefined {
  const type = isRecord(serviceTier) ? serviceTier.type : undefined;
  return typeof type === 'string' ? type : undefined;
}

/** What an answer says of its cost beside the counters of tokens. */
export interface BesideTokens {
  tier: string | undefined;
  /** The names of the tools that the service has run, once for each call. */
  ran: readonly string[];
}

/** Prompt tokens are the sum of input, cache reads and cache writes. */
export function bedrockUsage(
  counters: Record<string, unknown>,
  { tier, ran }: BesideTokens,
): UpstreamUsage {
  const { input, output, cached, written, hours } = counters;
  const long = isIndex(hours) && isIndex(written) ? Math.min(hours, written) : 0;
  const details = {
    ...(cached != null && { cached_tokens: cached }),
    ...(written != null && { cache_write_tokens: long > 0 ? Number(written) - long : written }),
    ...(long > 0 && { cache_write_1h_tokens: long }),
  };
  const tool_calls = countsOfNames(ran);
  const parts = [input, cached, written].filter((count) => count != null);
  return {
    prompt_tokens: parts.length > 0 ? sumOf(parts) : undefined,
    completion_tokens: output,
    ...(Object.keys(details).length > 0 && { prompt_tokens_details: details }),
    ...(tier !== undefined && { service_tier: tier }),
    ...(tool_calls && { tool_calls }),
  };
}

/** The first count that is none stands for the sum, so that no one believes it. */
function sumOf(counts: readonly unknown[]): unknown {
  const odd = counts.findIndex((count) => !isIndex(count));
  return odd < 0 ? counts.reduce<number>((sum, count) => sum + Number(count), 0) : counts[odd];
}

const SERVER_CALL = 'server_tool_use';

/** The name of a tool that the service has run itself; undefined for a call of the client's. */
export function serverCall(toolUse: unknown): string | undefined {
  if (!isRecord(toolUse) || toolUse.type !== SERVER_CALL) return undefined;
  return typeof toolUse.name === 'string' ? toolUse.name : undefined;
}

/** A block of a tool that the client is to call: others were run by the service itself. */
export function clientCall(toolUse: unknown): { id: string; name: string } | undefined {
  if (!isRecord(toolUse) || toolUse.type === SERVER_CALL) return undefined;
  const { toolUseId, name } = toolUse;
  return typeof toolUseId === 'string' && typeof name === 'string'
    ? { id: toolUseId, name }
    : undefined;
}

/** Reads a whole answer. Throws `UpstreamError` for an error, or for a body that is no answer. */
export function decode(body: unknown, call: ChatCall, upstream: Upstream): ChatReply {
  const output = isRecord(body) ? body.output : undefined;
  const message = isRecord(output) ? output.message : undefined;
  const content = isRecord(message) ? message.content : undefined;
  if (!isRecord(body) || !Array.isArray(content)) {
    throw broken("The upstream's answer holds no message.");
  }
  const reply = new Spoken(targetOf(upstream), outputTool(call, upstream));
  for (const block of content.filter(isRecord)) reply.read(block);
  const { usage } = body;
  const ran = content.filter(isRecord).flatMap(({ toolUse }) => serverCall(toolUse) ?? []);
  return {
    choices: [reply.choice(body.stopReason)],
    usage: isRecord(usage)
      ? bedrockUsage(countersIn(usage), { tier: tierOf(body), ran })
      : undefined,
  };
}

/** The content of the blocks of an answer. */
class Spoken {
  #content = '';
  readonly #reasoning: string[] = [];
  readonly #details: ReasoningDetail[] = [];
  readonly #calls: ToolCall[] = [];
  #reasonings = 0;

  constructor(
    readonly target: Target,
    /** The tool whose input is the text. */
    readonly output_tool: string | undefined,
  ) {}

  read({ text, citationsContent, reasoningContent, toolUse }: Record<string, unknown>): void {
    if (typeof text === 'string') this.#content += text;
    else if (isRecord(citationsContent)) this.#content += citedText(citationsContent);
    else if (isRecord(reasoningContent)) this.#reason(reasoningContent);
    else if (isRecord(toolUse)) this.#call(toolUse);
  }

  choice(stopReason: unknown): ChatChoice {
    const calls = this.#calls;
    const reasoning = this.#reasoning.join(BETWEEN_THOUGHTS);
    const hasSpoken = this.#content !== '' || calls.length > 0;
    return {
      index: 0,
      content: this.#content !== '' || calls.length === 0 ? this.#content : null,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      finish_reason: finishOf(stopReason, hasSpoken),
    };
  }

  #reason({ reasoningText, redactedContent: redacted }: Record<string, unknown>): void {
    const { text: raw_text, signature } = isRecord(reasoningText) ? reasoningText : {};
    const text = typeof raw_text === 'string' ? raw_text : '';
    if (text !== '') this.#reasoning.push(text);
    const part = { text, signature, redacted };
    this.#details.push(...detailsOf(part, this.#reasonings, this.target));
    this.#reasonings += 1;
  }

  #call(toolUse: Record<string, unknown>): void {
    const call = clientCall(toolUse);
    if (!call) return;
    const input = JSON.stringify(toolUse.input ?? {});
    if (call.name === this.output_tool) this.#content += input;
    else {
      const called = { name: call.name, arguments: input };
      this.#calls.push({ id: call.id, type: 'function', function: called });
    }
  }
}

function citedText({ content }: Record<string, unknown>): string {
  if (!Array.isArray(content)) return '';
  return content
    .filter(isRecord)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}
