import { isRecord } from '../../src/lib/is-record.js';
import type { Block } from './content.js';
import type { Fields } from './fields.js';
import { cachePoint } from './cache-point.js';
import { cachesTools, takesSchemas, type ModelKind } from './model.js';
import { answerTool, JSON_TOOL } from './structured.js';

/** Tools for the model, and whether it must call one. */
export interface ToolConfig {
  tools: Block[];
  toolChoice?: Block;
}

/**
 * The tools of a call. Undefined where there are none, or none may be called: Converse has no word
 * for that, and the tools have to be left out. Names what is left out in `ignored`.
 */
export function toolConfigOf(
  fields: Fields,
  kind: ModelKind,
  ignored: Set<string>,
): ToolConfig | undefined {
  const answer = answerTool(fields, kind);
  const choice = fields['tool_choice'];
  const offered = choice === 'none' ? [] : listOf(fields['tools']);
  const tools = offered.flatMap((tool) => toolBlocks(tool, kind, ignored));
  if (answer) return { tools: [...tools, answer], toolChoice: answerChoice(tools) };
  if (tools.length === 0) return undefined;
  const toolChoice = choiceOf(choice, ignored);
  return { tools, ...(toolChoice && { toolChoice }) };
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function answerChoice(tools: readonly Block[]): Block {
  return tools.length === 0 ? { tool: { name: JSON_TOOL } } : { any: {} };
}

function toolBlocks(tool: Record<string, unknown>, kind: ModelKind, ignored: Set<string>): Block[] {
  const { type, function: described, cache_control, ...own } = tool;
  // A tool of the service's own, which the model's entry allows, goes as the client wrote it.
  const block = type === 'function' && isRecord(described) ? toolSpec(described, kind) : own;
  return [block, ...cachePoint(cache_control, cachesTools(kind), ignored)];
}

function toolSpec(
  { name, description, parameters, strict }: Record<string, unknown>,
  kind: ModelKind,
): Block {
  const schema = isRecord(parameters) ? parameters : { properties: {} };
  return {
    toolSpec: {
      name,
      ...(typeof description === 'string' && description.trim() !== '' && { description }),
      inputSchema: { json: { type: 'object', ...schema } },
      // Models that hold no answer to a schema refuse the word.
      ...(strict === true && takesSchemas(kind) && { strict }),
    },
  };
}

/** Some models refuse any choice, so `auto`, which is what happens anyway, is not said. */
function choiceOf(choice: unknown, ignored: Set<string>): Block | undefined {
  if (choice === undefined || choice === null || choice === 'auto') return undefined;
  if (choice === 'required') return { any: {} };
  const named = isRecord(choice) ? choice['function'] : undefined;
  if (isRecord(named)) return { tool: { name: named['name'] } };
  ignored.add('tool_choice');
  return undefined;
}
