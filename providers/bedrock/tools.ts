import type { JsonOutput } from '../anthropic/output.js';
import { strictSchema } from '../anthropic/schema.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import type { Block } from './content.js';
import { unsupported } from './errors.js';
import type { RequestFields } from './fields.js';
import { cachePoints, type Target } from './model.js';

/** Tools for the model, and whether it must call one. */
export interface ToolConfig {
  tools: Block[];
  toolChoice?: Block;
}

/**
 * The tools of a call; undefined if there are none, or if none may be called: Converse has no such
 * choice, so the tools are left out. Throws the `UpstreamError` `unsupported` for a choice that the
 * model does not have.
 */
export function toolConfigOf(
  fields: RequestFields,
  output: JsonOutput | undefined,
  target: Target,
): ToolConfig | undefined {
  if (output?.by === 'tool') {
    const { name, description, input_schema } = output.tool;
    const toolSpec = { name, description, inputSchema: { json: input_schema } };
    return { tools: [{ toolSpec }], toolChoice: { tool: { name } } };
  }
  const choice = fields.tool_choice ?? 'auto';
  const given = recordsIn(fields.tools);
  if (choice === 'none' || given.length === 0) return undefined;
  const toolChoice = choiceOf(choice, target);
  return {
    tools: given.flatMap((tool) => toolBlocks(tool, target)),
    ...(toolChoice && { toolChoice }),
  };
}

/** A tool of the service's own, which the model's entry allows, goes as the client wrote it. */
function toolBlocks(entry: Record<string, unknown>, target: Target): Block[] {
  const { type, function: described, cache_control: _, ...own } = entry;
  const isOwn = type !== 'function' || !isRecord(described);
  return [
    isOwn ? own : { toolSpec: toolSpec(described, target) },
    ...cachePoints(entry, target, 'tools'),
  ];
}

function toolSpec(
  { name, description, parameters, strict }: Record<string, unknown>,
  { model, ignored }: Target,
): Block {
  const held = strict === true && model.schemas ? strictSchema(parameters) : undefined;
  if (strict === true && !held) ignored.add('tools[].function.strict');
  const schema = held ?? (isRecord(parameters) ? parameters : {});
  const properties = Object.keys(schema).length === 0 ? { properties: {} } : {};
  return {
    name,
    ...(typeof description === 'string' && description.trim() !== '' && { description }),
    inputSchema: { json: { ...properties, ...schema, type: 'object' } },
    ...(held && { strict: true }),
  };
}

/** Leaves out the choice `auto`, which is the default, as some models refuse any choice. */
function choiceOf(choice: unknown, { model }: Target): Block | undefined {
  if (choice === 'auto') return undefined;
  const named = isRecord(choice) ? choice.function : undefined;
  const name = isRecord(named) ? named.name : undefined;
  if (!model.forced_tools) {
    throw unsupported('This model cannot be made to call a tool.', 'tool_choice');
  }
  if (choice === 'required') return { any: {} };
  if (typeof name === 'string') return { tool: { name } };
  const message = 'Amazon Bedrock takes none, auto, required or one function as tool_choice.';
  throw unsupported(message, 'tool_choice');
}
