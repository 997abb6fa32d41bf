import { otherToolFields } from '../../src/core/block-fields.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import { toolPriceName, usesOfTool } from '../../src/core/server-tools.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import type { ChatCall } from '../../src/modalities/chat/codec.js';
import { cacheControl, type EncodeContext } from './context.js';
import type { MessagesTool } from '../../src/schema-types/messages.js';
import { textOfValue } from '../openai/answer.js';
import { strictSchema } from './schema.js';
import type { MessagesBody, Tool, ToolChoice, Turn } from './wire.js';

type RequestFields = Readonly<Record<string, unknown>>;

/**
 * The tools of a call, and the choice among them. A conversation that holds calls needs the tools
 * called, so where the client sends none any more they are named again, not to be used.
 */
export function toolsOf(
  { fields, original: own, max_tool_calls }: ChatCall,
  turns: readonly Turn[],
  context: EncodeContext,
): Pick<MessagesBody, 'tools' | 'tool_choice'> {
  const original = own?.tools ?? [];
  const given = recordsIn(fields.tools);
  if (given.length > 0) {
    const tool_choice = toolChoice(fields, context);
    const sent: (Tool | Record<string, unknown>)[] = [];
    for (const tool of given) {
      sent.push(
        tool.type === 'function' ? toolOf(tool, context) : hostedTool(tool, max_tool_calls),
      );
    }
    const tools = original.length === 0 ? sent : originalTools(original, sent, context);
    return { tools, ...(tool_choice && { tool_choice }) };
  }
  const called = turns.flatMap((turn) =>
    turn.content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : [])),
  );
  if (called.length === 0) return {};
  const tools = [...new Set(called)].map((name) => ({ name, input_schema: inputSchema({}) }));
  return { tools, tool_choice: { type: 'none' } };
}

/** Tools as the client of the API itself has written them, one that stands for later ones too. */
function originalTools(
  original: readonly MessagesTool[],
  sent: readonly (Tool | Record<string, unknown>)[],
  { betas }: EncodeContext,
): (Tool | Record<string, unknown>)[] {
  // Each one is used once: of two tools with one name, each was measured with its own text.
  const byName = new Map<unknown, (typeof sent)[number][]>();
  for (const tool of sent) {
    const others = byName.get(tool.name);
    if (others) others.push(tool);
    else byName.set(tool.name, [tool]);
  }
  const tools: (Tool | Record<string, unknown>)[] = [];
  for (const tool of original) {
    const made = originalTool(tool, byName.get(tool.name)?.shift(), betas);
    if (made) tools.push(made);
  }
  return tools;
}

/** `known` is the tool as it was read for any API; undefined for one that stands for others. */
function originalTool(
  tool: MessagesTool,
  known: Tool | Record<string, unknown> | undefined,
  betas: EncodeContext['betas'],
): Tool | Record<string, unknown> | undefined {
  const { type, name, description, input_schema, strict, defer_loading } = tool;
  const isCustom = !type || type === 'custom';
  if (known && !isCustom) return known;
  if (!known && !(betas && defer_loading && isCustom && isSmall(tool))) return undefined;
  const { input_examples, eager_input_streaming } = tool;
  const isHeld = known?.strict === true;
  const hasExamples = betas && !strict && input_examples?.length;
  return {
    ...(known ?? { name, ...(description !== undefined && { description }) }),
    ...(!isHeld && { input_schema: inputSchema(input_schema) }),
    ...(betas && defer_loading && { defer_loading }),
    ...(hasExamples && { input_examples: recordsIn(input_examples) }),
    ...(eager_input_streaming && { eager_input_streaming }),
    ...(betas && otherToolFields(tool)),
  };
}

const SMALL_CHARACTERS = 1_000;

/** One that only stands for later tools was not measured, so it must not be able to cost much. */
function isSmall(tool: MessagesTool): boolean {
  return JSON.stringify(tool).length <= SMALL_CHARACTERS;
}

const DATED = /_\d{8}$/u;
/** The tools whose calls the API bounds. */
const BOUNDED: ReadonlySet<string> = new Set(['web_search', 'web_fetch']);
const WEB_SEARCH = { type: 'web_search_20250305', name: 'web_search' };

/** A tool that the API runs itself, also one in the words of the Responses API. */
function hostedTool(
  tool: Record<string, unknown>,
  max_tool_calls: number | undefined,
): Record<string, unknown> {
  const type = textOfValue(tool.type);
  const name = toolPriceName(type);
  const isOwn = DATED.test(type);
  const { filters, user_location } = tool;
  const own: Record<string, unknown> =
    isOwn || name !== WEB_SEARCH.name
      ? tool
      : {
          ...WEB_SEARCH,
          ...(isRecord(filters) && filters),
          ...(isRecord(user_location) && { user_location }),
        };
  if (!BOUNDED.has(name) || max_tool_calls === undefined) return own;
  return { ...own, max_uses: usesOfTool(own, max_tool_calls) };
}

function toolOf(entry: Record<string, unknown>, context: EncodeContext): Tool {
  const { name, description, parameters, strict } = isRecord(entry.function) ? entry.function : {};
  const held = strict === true && context.model.schemas ? strictSchema(parameters) : undefined;
  if (strict === true && !held) context.ignored.add('tools[].function.strict');
  return {
    name: typeof name === 'string' ? name : '',
    ...(typeof description === 'string' && description !== '' && { description }),
    input_schema: inputSchema(held ?? parameters),
    ...(held && { strict: true }),
    ...cacheControl(entry, context),
  };
}

function inputSchema(parameters: unknown): Tool['input_schema'] {
  const schema = isRecord(parameters) ? parameters : {};
  const properties = Object.keys(schema).length === 0 ? { properties: {} } : {};
  return { ...properties, ...schema, type: 'object' };
}

function toolChoice(fields: RequestFields, { model }: EncodeContext): ToolChoice | undefined {
  const wanted = fields.tool_choice ?? 'auto';
  const alone =
    fields.parallel_tool_calls === false ? { disable_parallel_tool_use: true } : undefined;
  if (wanted === 'none') return { type: 'none' };
  // Left to the upstream, it is `auto`.
  if (wanted === 'auto') return alone && { type: 'auto', ...alone };
  const choice = forcedToolChoice(wanted) ?? hostedChoice(wanted);
  if (choice && model.forced_tools) return { ...choice, ...alone };
  const message = choice
    ? 'tool_choice: this model cannot be made to call a tool.'
    : 'tool_choice: this upstream takes none, auto, required, or one function.';
  throw new UpstreamError('unsupported', message, undefined, { param: 'tool_choice' });
}

function forcedToolChoice(
  wanted: unknown,
): { type: 'any' } | { type: 'tool'; name: string } | undefined {
  if (wanted === 'required') return { type: 'any' };
  const called = isRecord(wanted) && wanted.type === 'function' ? wanted.function : undefined;
  const name = isRecord(called) ? called.name : undefined;
  return typeof name === 'string' ? { type: 'tool', name } : undefined;
}

/** A choice of a tool that the API runs itself, by the tool's type. */
function hostedChoice(wanted: unknown): { type: 'tool'; name: string } | undefined {
  const type = isRecord(wanted) ? wanted.type : undefined;
  if (typeof type !== 'string' || toolPriceName(type) !== WEB_SEARCH.name) return undefined;
  return { type: 'tool', name: WEB_SEARCH.name };
}

/** Whether a choice makes the model call a tool, which it must not be asked to think before. */
export function isForced(choice: ToolChoice | undefined): boolean {
  return choice?.type === 'any' || choice?.type === 'tool';
}
