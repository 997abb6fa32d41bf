import { GatewayError } from '../../../core/errors.js';
import type { ToolEntry } from '../../../schema-types/chat-completion.js';
import { noteExtras } from '../../../http/request-body.js';
import type { Model } from '../../../core/model.js';

const FUNCTION_KEYS = new Set(['type', 'function']);
/** Characters of a client's word that an error repeats. */
const SHOWN_CHARACTERS = 64;

/**
 * The tools of a request, functions without what the contract does not name. Throws `GatewayError`
 * for a tool of a type that the model does not list: an upstream runs such a tool itself, and
 * charges for it beside the tokens.
 */
export function readTools(
  tools: readonly ToolEntry[],
  model: Model,
  ignored: Set<string>,
): ToolEntry[] {
  return tools.map((tool, index) => {
    if (tool.type === 'function') return cleanFunction(tool, ignored);
    if (model.tool_types?.has(tool.type)) return tool;
    const taken = ['function', ...(model.tool_types ?? [])].join(' or ');
    const shown = JSON.stringify(tool.type.slice(0, SHOWN_CHARACTERS));
    throw new GatewayError(
      'unsupported_capability',
      `tools[${index}].type is ${shown}, but the tools of ${model.id} are of type ${taken}.`,
      { param: `tools[${index}].type` },
    );
  });
}

function cleanFunction(tool: ToolEntry, ignored: Set<string>): ToolEntry {
  if (Object.keys(tool).every((name) => FUNCTION_KEYS.has(name))) return tool;
  noteExtras(tool, FUNCTION_KEYS, 'tools[]', ignored);
  return { type: tool.type, ...(tool.function && { function: tool.function }) };
}

/** Throws `GatewayError` for a field of the older way to offer functions, unless it is null. */
export function refuseLegacy(value: unknown, param: string): void {
  if (value === null || value === undefined) return;
  throw new GatewayError(
    'invalid_request',
    `${param} is not taken here: send tools, tool_choice and tool_calls instead.`,
    { param },
  );
}
