import type { Provider } from '../../src/core/provider.js';
import type { Upstream } from '../../src/core/model.js';
import type { UpstreamUsage } from '../../src/core/usage.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import type {
  Annotation,
  ChatCall,
  ChatChoice,
  ChatReply,
  HostedPart,
  ReasoningDetail,
  ToolCall,
} from '../../src/modalities/chat/codec.js';
import { annotationOf, broken, checked, textOfValue } from './answer.js';
import { reasoningFormat } from './responses-input.js';
import { itemCounts, toolCountsIn } from './tool-counts.js';

type WireObject = Record<string, unknown>;

/** Stands between two messages of one answer, and between two paragraphs of reasoning. */
export const BETWEEN = '\n\n';

/** A whole answer of the Responses API. Throws the `UpstreamError` of one that failed. */
export function decodeResponse(
  body: unknown,
  { compaction }: ChatCall,
  { provider }: Upstream,
): ChatReply {
  const answer = checked(body, provider);
  if (!Array.isArray(answer.output)) throw broken('The upstream gave no answer.');
  const items = recordsIn(answer.output);
  const states = items.map((item, at) => stateIn(item, at, provider));
  const details = states.flat();
  if (compaction === 'call') return compacted(answer, items, details);
  const said = saidIn(items, states);
  const calls = items.flatMap((item) => callIn(item) ?? []);
  const reasoning = items.map(reasoningIn).filter((text) => text !== '');
  const choice: ChatChoice = {
    index: 0,
    content: said.content === '' && calls.length > 0 ? null : said.content,
    ...(said.is_refusal && { is_refusal: true }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(said.hosted.length > 0 && { hosted_parts: said.hosted }),
    ...(said.annotations.length > 0 && { annotations: said.annotations }),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join(BETWEEN) }),
    ...(details.length > 0 && { reasoning_details: details }),
    finish_reason: finishIn(answer, calls.length > 0),
  };
  return { choices: [choice], usage: usageOfResponse(answer, items) };
}

/** A conversation that was compacted: only the client of that API reads its items. */
function compacted(
  answer: WireObject,
  items: readonly WireObject[],
  details: ReasoningDetail[],
): ChatReply {
  if (!details.some(({ type }) => type === 'compaction')) {
    throw broken('The upstream gave no compaction.');
  }
  const choice = { index: 0, content: '', reasoning_details: details, finish_reason: 'stop' };
  return { choices: [choice], usage: usageOfResponse(answer, items), others: { output: items } };
}

interface Said {
  content: string;
  is_refusal: boolean;
  hosted: HostedPart[];
  annotations: Annotation[];
}

/** The texts, and the work of the API's own tools and the sources with their places in them. */
function saidIn(items: readonly WireObject[], states: readonly ReasoningDetail[][]): Said {
  const said: Said = { content: '', is_refusal: false, hosted: [], annotations: [] };
  let isFirst = true;
  let after = 0;
  for (const [index, item] of items.entries()) {
    after += states[index]?.length ?? 0;
    if (isHostedItem(item)) {
      said.hosted.push({ api: 'responses', part: item, at: said.content.length, after });
    }
    if (item.type !== 'message') continue;
    const { text, is_refusal } = messageIn(item);
    if (!isFirst) said.content += BETWEEN;
    isFirst = false;
    said.annotations.push(...citedIn(item, said.content.length));
    said.content += text;
    said.is_refusal ||= is_refusal;
  }
  return said;
}

/** Whether an item is of a tool that the API has run itself. */
export function isHostedItem({ type }: WireObject): boolean {
  return HOSTED.has(type);
}

const HOSTED: ReadonlySet<unknown> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
]);

/** The web pages that a message names as its sources, whose text begins at `start`. */
export function citedIn({ content }: WireObject, start: number): Annotation[] {
  let at = start;
  return recordsIn(content).flatMap(({ text, annotations }) => {
    const from = at;
    at += textOfValue(text).length;
    return recordsIn(annotations).flatMap((one) => annotationOf(one, from));
  });
}

/** How an answer ended, in the words of chat completions. Throws for one that did not end. */
export function finishIn({ status, incomplete_details }: WireObject, hasCalls: boolean): string {
  if (status === 'incomplete') {
    const { reason } = isRecord(incomplete_details) ? incomplete_details : {};
    return reason === 'content_filter' ? reason : 'length';
  }
  if (status !== 'completed') throw broken('The upstream failed while it was answering.');
  return hasCalls ? 'tool_calls' : 'stop';
}

/**
 * The usage of an answer with these items, with the names of chat completions; undefined if there
 * is none.
 */
export function usageOfResponse(
  { usage, service_tier, server_side_tool_usage }: WireObject,
  items: readonly WireObject[],
): UpstreamUsage | undefined {
  if (!isRecord(usage)) return undefined;
  const tool_calls = toolCountsIn({ server_side_tool_usage, ...usage }) ?? itemCounts(items);
  const input = isRecord(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const output = isRecord(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const { cached_tokens, cache_write_tokens } = input;
  const { reasoning_tokens } = output;
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    prompt_tokens_details: {
      ...(cached_tokens != null && { cached_tokens }),
      ...(cache_write_tokens != null && { cache_write_tokens }),
    },
    ...(reasoning_tokens != null && { completion_tokens_details: { reasoning_tokens } }),
    ...(typeof service_tier === 'string' && { service_tier }),
    ...(tool_calls && { tool_calls }),
  };
}

/** The text of a message, or its refusal if it has no text. */
export function messageIn({ content }: WireObject): { text: string; is_refusal: boolean } {
  const parts = recordsIn(content);
  const text = parts.map((part) => textOfValue(part.text)).join('');
  const refusal = text === '' ? parts.map((part) => textOfValue(part.refusal)).join('') : '';
  return { text: text || refusal, is_refusal: refusal !== '' };
}

/** The call that an item is; undefined for an item of another type. */
export function callIn(item: WireObject): ToolCall | undefined {
  const { type, call_id, name, arguments: args, input } = item;
  const isCustom = type === 'custom_tool_call';
  if ((type !== 'function_call' && !isCustom) || typeof name !== 'string') return undefined;
  const text = isCustom ? JSON.stringify({ input: textOfValue(input) }) : textOfValue(args) || '{}';
  return { id: textOfValue(call_id), type: 'function', function: { name, arguments: text } };
}

/** The text of a reasoning item: a summary, or the reasoning itself of open models. */
function reasoningIn({ type, summary, content }: WireObject): string {
  if (type !== 'reasoning') return '';
  const texts = [...recordsIn(summary), ...recordsIn(content)].map((part) =>
    textOfValue(part.text),
  );
  return texts.filter((text) => text !== '').join(BETWEEN);
}

/** The encrypted state of reasoning, or a compaction, which goes back with the next call. */
export function stateIn(
  { type, id, encrypted_content: data }: WireObject,
  index: number,
  provider: Provider,
): ReasoningDetail[] {
  if (typeof data !== 'string' || data === '') return [];
  const state = { data, format: reasoningFormat(provider), index };
  if (type === 'reasoning') return [{ type: 'reasoning.encrypted', ...state }];
  if (type !== 'compaction') return [];
  return [{ type, ...state, ...(typeof id === 'string' && { id }) }];
}
