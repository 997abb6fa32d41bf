import { isRecord, recordsIn } from '../../src/lib/objects.js';

type Counted = Readonly<Record<string, unknown>>;

/** Where servers count the tools that they run themselves, and how a counter is called there. */
const PLACES: readonly (readonly [field: string, name: RegExp])[] = [
  // Anthropic and OpenRouter.
  ['server_tool_use', /^(\w+)_requests$/u],
  // xAI, by its two APIs.
  ['server_side_tool_usage_details', /^(\w+)_calls$/u],
  ['server_side_tool_usage', /^(?:SERVER_SIDE_TOOL_)?(\w+)$/u],
  // Mistral.
  ['connectors', /^(\w+)$/u],
];

/** Counters of one tool: xAI's sources of live search, Perplexity's searches. */
const SINGLE: readonly (readonly [field: string, tool: string])[] = [
  ['num_sources_used', 'live_search'],
  ['num_search_queries', 'web_search'],
];

/**
 * The calls of the server's own tools in a report of usage, by the names that prices use; undefined
 * if it counts none. A zero is left out.
 */
export function toolCountsIn(usage: Counted): Counted | undefined {
  let found: Record<string, unknown> | undefined;
  const note = (tool: string, count: unknown): void => {
    if (count !== 0 && count !== undefined && count !== null) (found ??= {})[tool] = count;
  };
  for (const [field, pattern] of PLACES) {
    const counters = usage[field];
    if (!isRecord(counters)) continue;
    for (const [name, count] of Object.entries(counters)) {
      const tool = pattern.exec(name)?.[1];
      if (tool !== undefined) note(tool.toLowerCase(), count);
    }
  }
  for (const [field, tool] of SINGLE) note(tool, usage[field]);
  const { plugins } = usage;
  // Alibaba's search, which is turned on by a field.
  if (isRecord(plugins) && isRecord(plugins.search)) note('web_search', plugins.search.count);
  return found;
}

/** How often each name is in a list; undefined if it is empty. */
export function countsOfNames(names: Iterable<string>): Record<string, number> | undefined {
  let counts: Record<string, number> | undefined;
  for (const name of names) {
    counts ??= {};
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** The tools that a server of Groq has run for a message or a delta, by their index. */
export function noteExecuted(message: Counted, executed: Map<unknown, string>): void {
  if (!message.executed_tools) return;
  for (const [at, { type, index }] of recordsIn(message.executed_tools).entries()) {
    if (typeof type === 'string' && type !== 'function') executed.set(index ?? at, type);
  }
}

/** Items of the Responses API for which OpenAI takes money, and the tools that made them. */
const BILLED_ITEMS: ReadonlyMap<unknown, string> = new Map([
  ['web_search_call', 'web_search'],
  ['file_search_call', 'file_search'],
  ['code_interpreter_call', 'code_interpreter'],
  ['image_generation_call', 'image_generation'],
]);

/** Steps of a search that cost nothing: only the search itself does. */
const FREE_STEPS: ReadonlySet<unknown> = new Set(['open_page', 'find_in_page']);

/**
 * The counts of an answer's items by tool; undefined if none is billed. Code is billed by its
 * container, in which several calls may run.
 */
export function itemCounts(items: readonly Counted[]): Counted | undefined {
  const ran: string[] = [];
  const containers = new Set<unknown>();
  for (const { type, action, container_id } of items) {
    const tool = BILLED_ITEMS.get(type);
    const isFree = isRecord(action) && FREE_STEPS.has(action.type);
    if (tool === undefined || isFree || containers.has(container_id)) continue;
    if (typeof container_id === 'string') containers.add(container_id);
    ran.push(tool);
  }
  return countsOfNames(ran);
}
