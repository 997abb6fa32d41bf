import type { ShapeOf, TextFields } from '../../../pipeline/text-walk.js';

const source: ShapeOf = ({ type }) => {
  if (type === 'text') return { media_type: 'kept' };
  return type === 'content' ? { content: block } : 'kept';
};

/** Claude refuses signed thinking that was changed. */
const block: ShapeOf = ({ type, signature }) => (type === 'thinking' && signature ? SIGNED : BLOCK);
const SIGNED: TextFields = { thinking: 'sealed', signature: 'kept' };

const BLOCK: TextFields = {
  id: 'kept',
  name: 'kept',
  input: 'data',
  tool_use_id: 'kept',
  tool_name: 'kept',
  signature: 'kept',
  data: 'kept',
  encrypted_content: 'kept',
  cache_control: 'kept',
  source,
  content: block,
};

/** Locates the texts of a body of the Messages API. */
export const MESSAGES_TEXTS: TextFields = {
  model: 'kept',
  system: block,
  messages: { content: block },
  // The model reads descriptions and schemas of tools, so they are texts.
  tools: { name: 'kept', input_examples: 'data', cache_control: 'kept' },
  tool_choice: 'kept',
  thinking: 'kept',
  output_config: { effort: 'kept' },
  service_tier: 'kept',
};
