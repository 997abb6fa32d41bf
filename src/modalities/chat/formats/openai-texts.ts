import type { ShapeOf, TextFields } from '../../../pipeline/text-walk.js';

/** Fields of OpenAI's APIs, and of upstreams with similar ones, that hold no texts. */
export const COMMON_TEXTS: TextFields = {
  metadata: 'data',
  model: 'kept',
  modalities: 'kept',
  reasoning: 'kept',
  reasoning_effort: 'kept',
  service_tier: 'kept',
  stream_options: 'kept',
  thinking: 'kept',
  verbosity: 'kept',
};

const PART: TextFields = {
  image_url: 'kept',
  input_audio: 'kept',
  file: { file_data: 'kept', file_id: 'kept' },
  cache_control: 'kept',
};

/** An upstream refuses signed reasoning that was changed. */
const detail: ShapeOf = ({ signature, data }) => (signature || data ? SIGNED : DETAIL);
const DETAIL: TextFields = { id: 'kept', format: 'kept', signature: 'kept', data: 'kept' };
const SIGNED: TextFields = { ...DETAIL, text: 'sealed', summary: 'sealed' };

const MESSAGE: TextFields = {
  content: PART,
  tool_call_id: 'kept',
  reasoning_details: detail,
  cache_control: 'kept',
  tool_calls: { id: 'kept', function: { name: 'kept', arguments: 'json' } },
};

/** The model reads descriptions and schemas of tools, so they are texts. */
const TOOL: TextFields = {
  function: { name: 'kept' },
  custom: { name: 'kept', format: { grammar: { syntax: 'kept' } } },
  cache_control: 'kept',
};

/** Locates the texts of a body of chat completions. */
export const CHAT_TEXTS: TextFields = {
  ...COMMON_TEXTS,
  messages: MESSAGE,
  tools: TOOL,
  tool_choice: 'kept',
  functions: { name: 'kept' },
  function_call: 'kept',
  response_format: { json_schema: { name: 'kept' } },
};
