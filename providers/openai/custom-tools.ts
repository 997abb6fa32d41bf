import { JsonTexts } from '../../src/lib/json-text.js';
import { customInput } from '../../src/lib/tool-arguments.js';
import type { Upstream } from '../../src/core/model.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import type { ChatCall, ToolCall } from '../../src/modalities/chat/codec.js';
import { isListed } from './model-prefixes.js';

type WireObject = Record<string, unknown>;
type CustomTools = NonNullable<ChatCall['custom_tools']>;

/**
 * Says custom tools as such, with their grammar, to a model that knows them: they stand in a call
 * as functions of one text. Changes the body in place, but nothing in it that the call owns.
 */
export function writeCustomTools(
  body: WireObject,
  custom_tools: CustomTools,
  upstream: Upstream,
): void {
  if (!body.tools || !isListed(upstream, upstream.provider.wire.custom_tools)) return;
  body.tools = recordsIn(body.tools).map((tool) => sayTool(tool, custom_tools));
  const { tool_choice: choice } = body;
  const chosen = isRecord(choice) ? nameOfFunction(choice) : undefined;
  if (custom_tools.has(chosen ?? '')) {
    body.tool_choice = { type: 'custom', custom: { name: chosen } };
  }
  const texts = new JsonTexts();
  body.messages = recordsIn(body.messages).map((message) => {
    const { tool_calls: calls } = message;
    if (calls === undefined) return message;
    const said = recordsIn(calls).map((one) => sayCall(one, custom_tools, texts));
    return { ...message, tool_calls: said };
  });
}

function nameOfFunction({ function: called }: WireObject): string | undefined {
  const name = isRecord(called) ? called.name : undefined;
  return typeof name === 'string' ? name : undefined;
}

function sayTool(tool: WireObject, custom_tools: CustomTools): WireObject {
  const custom = custom_tools.get(nameOfFunction(tool) ?? '');
  if (!custom) return tool;
  const { function: _, ...rest } = tool;
  return { ...rest, type: 'custom', custom };
}

function sayCall(call: WireObject, custom_tools: CustomTools, texts: JsonTexts): WireObject {
  const name = nameOfFunction(call);
  if (name === undefined || !custom_tools.has(name)) return call;
  const { function: called, ...rest } = call;
  const args = isRecord(called) ? String(called.arguments) : '';
  return { ...rest, type: 'custom', custom: { name, input: customInput(args, texts) } };
}

/** The custom tool of a call. Some servers add an empty one to a call of a function. */
export function customIn({ custom, function: called }: WireObject): WireObject | undefined {
  return isRecord(custom) && !isRecord(called) ? custom : undefined;
}

/** A call of a custom tool as one of a function; undefined for any other call. */
export function functionOf(call: WireObject): ToolCall['function'] | undefined {
  const custom = customIn(call);
  if (!custom) return undefined;
  const { name, input } = custom;
  if (typeof name !== 'string') return undefined;
  return { name, arguments: JSON.stringify({ input: typeof input === 'string' ? input : '' }) };
}

/** The beginning and the end of arguments around an input that arrives in pieces. */
export const BEGIN = '{"input":"';
export const END = '"}';

/** A piece of an input, as it stands inside the arguments. */
export function pieceOf(custom: WireObject): string {
  const { input } = custom;
  return typeof input === 'string' ? JSON.stringify(input).slice(1, -1) : '';
}
