import type { ShapeOf, TextFields } from '../../../pipeline/text-walk.js';

const PART: TextFields = {
  image_url: 'kept',
  detail: 'kept',
  file_id: 'kept',
  file_data: 'kept',
  file_url: 'kept',
  input_audio: 'kept',
  logprobs: 'kept',
};

/** A tool, or a namespace of tools. The model reads descriptions and schemas, so they are texts. */
const tool: ShapeOf = () => ({ name: 'kept', tools: tool, format: { syntax: 'kept' } });

/** Sealed reasoning must go back to its upstream unchanged. */
const item: ShapeOf = ({ type, encrypted_content }) =>
  type === 'reasoning' && encrypted_content ? SEALED : ITEM;

const ITEM: TextFields = {
  id: 'kept',
  status: 'kept',
  call_id: 'kept',
  name: 'kept',
  namespace: 'kept',
  arguments: 'json',
  content: PART,
  output: PART,
  summary: PART,
  tools: tool,
  encrypted_content: 'kept',
};
const SEALED: TextFields = { ...ITEM, content: 'sealed', summary: 'sealed' };

/** Locates the texts of a body of the Responses API. */
export const RESPONSES_TEXTS: TextFields = {
  model: 'kept',
  input: item,
  tools: tool,
  tool_choice: 'kept',
  text: { format: { name: 'kept' }, verbosity: 'kept' },
  reasoning: 'kept',
  include: 'kept',
  // Only the client gets it back.
  metadata: 'kept',
  truncation: 'kept',
  service_tier: 'kept',
};
