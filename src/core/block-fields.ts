import { holdsCacheMark, isCostly } from './costly-fields.js';

/**
 * The fields of blocks of the Messages API that the gateway reads. Of citations it could not tell
 * the answer's part, and the model reads a long instruction for them.
 */
const BLOCK_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'text',
  'source',
  'context',
  'title',
  'id',
  'name',
  'input',
  'tool_use_id',
  'content',
  'is_error',
  'tool_name',
  'thinking',
  'signature',
  'data',
  'cache_control',
  'citations',
]);

const TOOL_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
  'defer_loading',
  'eager_input_streaming',
  'input_examples',
]);

/** Blocks of the MCP connector are not among them: no request may name its servers. */
const SERVER_TOOL = /^server_tool_use$|^(?!mcp_)\w+_tool_result$/u;

/** Whether a block of the Messages API is of a tool that the upstream has run itself. */
export function isServerToolBlock({ type }: { type?: unknown }): boolean {
  return typeof type === 'string' && SERVER_TOOL.test(type);
}

/** The fields of a block that go on unread to an upstream with the same API. */
export function otherBlockFields(block: object): Record<string, unknown> {
  return othersBeside(BLOCK_FIELDS, block);
}

/** The same of a tool that the client runs. */
export function otherToolFields(tool: object): Record<string, unknown> {
  return othersBeside(TOOL_FIELDS, tool);
}

const NONE: Record<string, unknown> = {};

function othersBeside(known: ReadonlySet<string>, whole: object): Record<string, unknown> {
  let others: [string, unknown][] | undefined;
  for (const name in whole) {
    if (known.has(name)) continue;
    const value: unknown = Reflect.get(whole, name);
    if (value === null || isCostly(name) || holdsCacheMark(value)) continue;
    (others ??= []).push([name, value]);
  }
  return others ? Object.fromEntries(others) : NONE;
}
