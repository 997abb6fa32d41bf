/** Fields of the chat contract that the gateway reads itself: what a call costs rests on them. */
export const READ_FIELDS: readonly string[] = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'n',
  'max_tokens',
  'max_completion_tokens',
];

/** Fields of specification 2.1 that travel as they are. */
export const SAMPLING_FIELDS: readonly string[] = [
  'temperature',
  'top_p',
  'stop',
  'presence_penalty',
  'frequency_penalty',
  'user',
];

/** The older spelling of tools and of their choice. */
export const LEGACY_FIELDS: readonly string[] = ['functions', 'function_call'];

/** Fields that travel to a model that is capable of `tools`. */
export const TOOL_FIELDS: readonly string[] = ['tools', 'tool_choice', 'parallel_tool_calls'];
