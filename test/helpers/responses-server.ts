import type { ServerResponse } from 'node:http';
import { play, sse, startUpstream, type FakeUpstream, type Step } from './upstream.js';

type Item = Record<string, unknown>;

/** The answer to a call: the items of its output, and how it ends. */
export interface ResponsesAnswer {
  output: readonly Item[];
  status?: 'completed' | 'incomplete';
  reason?: string;
  usage?: object;
}

export const USAGE = {
  input_tokens: 40,
  input_tokens_details: { cached_tokens: 10 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 20 },
  total_tokens: 70,
};

const FIELDS = new Set([
  'model',
  'input',
  'stream',
  'stream_options',
  'store',
  'include',
  'max_output_tokens',
  'reasoning',
  'text',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'user',
  'prompt_cache_key',
  'metadata',
]);

const COMPACT_FIELDS = new Set([
  'model',
  'input',
  'instructions',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
]);

/** A whole answer of the Responses API. */
export function responseJson(answer: ResponsesAnswer): Step {
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(responseOf(answer)),
  };
}

/** The same answer as a stream, whose texts and arguments come in pieces of `size` characters. */
export function responseSse(answer: ResponsesAnswer, size = 5): Step {
  const events = eventsOf(answer, size);
  return sse(
    events.map(
      (event, sequence_number) =>
        `event: ${String(event.type)}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
    ),
  );
}

/** The events of a stream, each with its type. */
export function eventsOf(answer: ResponsesAnswer, size = 5): Item[] {
  const begun = { ...responseOf(answer), output: [], status: 'in_progress', usage: null };
  const { status = 'completed' } = answer;
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...answer.output.flatMap((item, output_index) =>
      itemEvents(item, size).map((event) => ({ output_index, ...event })),
    ),
    { type: `response.${status}`, response: responseOf(answer) },
  ];
}

function responseOf({
  output,
  status = 'completed',
  reason,
  usage = USAGE,
}: ResponsesAnswer): Item {
  return {
    id: 'resp_1',
    object: 'response',
    status,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    output,
    usage,
  };
}

function itemEvents(item: Item, size: number): Item[] {
  const { type, id: item_id } = item;
  const parts = (item.content ?? item.summary ?? []) as Item[];
  const inside = (name: string, text: unknown, more: Item = {}): Item[] =>
    pieces(String(text), size).map((delta) => ({
      type: `response.${name}.delta`,
      item_id,
      delta,
      ...more,
    }));
  const deltas =
    type === 'message'
      ? parts.flatMap((part, content_index) =>
          part.type === 'refusal'
            ? inside('refusal', part.refusal, { content_index })
            : inside('output_text', part.text, { content_index }),
        )
      : type === 'reasoning'
        ? parts.flatMap(({ text }, summary_index) =>
            inside('reasoning_summary_text', text, { summary_index }),
          )
        : type === 'custom_tool_call'
          ? inside('custom_tool_call_input', item.input)
          : inside('function_call_arguments', item.arguments ?? '');
  const empty = { ...item, content: [], summary: [], arguments: '', input: '' };
  return [
    { type: 'response.output_item.added', item: empty },
    ...deltas,
    { type: 'response.output_item.done', item },
  ];
}

function pieces(text: string, size: number): string[] {
  const characters = Array.from(text);
  const found = [];
  for (let at = 0; at < characters.length; at += size) {
    found.push(characters.slice(at, at + size).join(''));
  }
  return found;
}

/**
 * A server that plays these answers in order, streamed or whole, and refuses requests as OpenAI
 * does.
 */
export async function startResponsesServer(
  answers: readonly ResponsesAnswer[],
): Promise<FakeUpstream> {
  let next = 0;
  return startUpstream(async ({ path, json }, response: ServerResponse) => {
    const body = json as Item;
    const fault = faultOf(path, body);
    if (fault !== undefined) {
      const error = { message: fault, type: 'invalid_request_error', param: null, code: null };
      await play({ status: 400, body: JSON.stringify({ error }) }, response);
      return;
    }
    const answer = answers[Math.min(next, answers.length - 1)] ?? { output: [] };
    next += 1;
    if (path === '/responses/compact') {
      const { output, usage = USAGE } = answer;
      const compacted = {
        id: 'resp_1',
        object: 'response.compaction',
        created_at: 1,
        output,
        usage,
      };
      await play({ body: JSON.stringify(compacted) }, response);
      return;
    }
    await play(body.stream === true ? responseSse(answer) : responseJson(answer), response);
  });
}

function faultOf(path: string, body: Item): string | undefined {
  const compacts = path === '/responses/compact';
  if (path !== '/responses' && !compacts) return `Unknown path: ${path}`;
  const known = compacts ? COMPACT_FIELDS : FIELDS;
  const unknown = Object.keys(body).find((name) => !known.has(name));
  if (unknown !== undefined) return `Unknown parameter: '${unknown}'.`;
  if (Number(body.max_output_tokens ?? 16) < 16) return "Invalid 'max_output_tokens'.";
  const tools = (body.tools ?? []) as Item[];
  if (tools.some(({ name }) => typeof name !== 'string')) return "Missing 'tools[0].name'.";
  return itemFault(body.input as Item[]);
}

function itemFault(input: readonly Item[]): string | undefined {
  for (const [at, item] of input.entries()) {
    const { type, call_id } = item;
    const isOutput = String(type).endsWith('_output');
    const call = String(type).replace('_output', '');
    const isCalled = input.slice(0, at).some((one) => one.type === call && one.call_id === call_id);
    if (isOutput && !isCalled) return `No tool call found for ${String(type)} ${String(call_id)}.`;
    const isLast = input.length === at + 1;
    if (type === 'compaction_trigger' && !isLast) return 'A trigger must be the last item.';
    if (type === 'compaction' && typeof item.encrypted_content !== 'string') return 'Missing text.';
    if (type === 'reasoning' && isLast) return 'Reasoning without its item.';
    if (type === 'reasoning' && !Array.isArray(item.summary)) return 'Missing summary.';
  }
  return undefined;
}
