import { isServerToolBlock } from '../../../core/block-fields.js';
import type { ShapeOf, TextFields } from '../../../pipeline/text-walk.js';

const source: ShapeOf = ({ type }) => {
  if (type === 'text') return { media_type: 'kept' };
  return type === 'content' ? { content: block } : 'kept';
};

/**
 * A block by its type. A block of another type, and content that is no list, is sent as its text or
 * as JSON, so all of it is read.
 */
const block: ShapeOf = ({ type, signature, content }) => {
  // Claude refuses signed thinking that was changed.
  if (type === 'thinking' && signature) return SIGNED;
  if (type === 'tool_result') return Array.isArray(content) ? RESULT : RESULT_OF_DATA;
  return BLOCKS.get(type) ?? 'open';
};
const SIGNED: TextFields = { thinking: 'sealed', signature: 'kept' };
const MARKED: TextFields = { cache_control: 'kept' };
const RESULT_OF_DATA: TextFields = { ...MARKED, tool_use_id: 'kept' };
const RESULT: TextFields = { ...RESULT_OF_DATA, content: block };
const BLOCKS: ReadonlyMap<unknown, TextFields> = new Map<unknown, TextFields>([
  ['text', MARKED],
  ['image', { ...MARKED, source }],
  ['document', { ...MARKED, source }],
  ['search_result', MARKED],
  ['thinking', { ...MARKED, signature: 'kept' }],
  ['redacted_thinking', { ...MARKED, data: 'kept' }],
  ['tool_use', { ...MARKED, id: 'kept', name: 'kept', input: 'data' }],
  ['tool_reference', { ...MARKED, tool_name: 'kept' }],
]);

/**
 * What Claude's own API has sealed in the result of a tool that it ran. Elsewhere it would be sent
 * as text; in a turn of the assistant no other upstream gets it.
 */
const FOUND: TextFields = {
  encrypted_content: 'kept',
  encrypted_index: 'kept',
  encrypted_stdout: 'kept',
};
const SERVER_TOOL: TextFields = { ...MARKED, id: 'kept', name: 'kept', input: 'data' };
const SERVER_RESULT: TextFields = { ...MARKED, tool_use_id: 'kept', content: FOUND };

const assistantBlock: ShapeOf = (one) => {
  if (!isServerToolBlock(one)) return block(one);
  return one.type === 'server_tool_use' ? SERVER_TOOL : SERVER_RESULT;
};
const message: ShapeOf = ({ role }) =>
  role === 'assistant' ? { content: assistantBlock } : { content: block };

/** Locates the texts of a body of the Messages API. */
export const MESSAGES_TEXTS: TextFields = {
  model: 'kept',
  system: block,
  messages: message,
  // The model reads descriptions and schemas of tools, so they are texts.
  tools: { name: 'kept', input_examples: 'data', cache_control: 'kept' },
  tool_choice: 'kept',
  thinking: 'kept',
  output_config: { effort: 'kept' },
  service_tier: 'kept',
};
