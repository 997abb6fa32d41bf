import { withResponses } from './openai/completions.js';
import { responses } from './openai/responses.js';

/** The wire flags that this codec reads. */
export const wire_flags = [
  'stream_options',
  'completion_from_total',
  'think_tags',
  'tool_id_length',
  'reasoning_back',
  'thought_signatures',
  'cache_control',
  'files',
  'text_content',
  'effort',
  'max_completion_tokens',
  'custom_tools',
  'openai_models',
  'max_stops',
  'effort_values',
  'refused_fields',
  'message_names',
  'json_schema',
  'forced_tools',
  'responses',
  'compaction',
] as const;

/**
 * OpenAI's chat wire, which most upstreams speak with differences. The flags in a manifest's `wire`
 * describe them. For answers:
 * - `completion_from_total`: completion tokens leave out reasoning, which the total has.
 * - `think_tags`: reasoning may stand in the text as `<think>…</think>`.
 *
 * For requests:
 * - `stream_options: false`: usage is always sent, and `stream_options` is an error.
 * - `tool_id_length`: the exact length of tool call IDs.
 * - `reasoning_back`: the field for the reasoning of earlier answers. Without it, reasoning is left
 *   out. `reasoning_content`; `tool_reasoning_content`, the same, but only on messages with tool
 *   calls, which require it; `reasoning`; `reasoning_details`; `think_tags`, in the text.
 * - `thought_signatures`: Gemini's signatures go back beside the tool calls.
 * - `cache_control`: cache marks are accepted, and sent.
 * - `files`: parts of type `file` are accepted. Without it, they are `unsupported`.
 * - `text_content`: content is one text, never a list of texts and never null.
 * - `effort`: the form of `reasoning_effort`. `reasoning`: as `reasoning.effort`; `thinking`: as
 *   `thinking.type`, on or off; `enable_thinking`: as true or false; `none_as_thinking`: unchanged,
 *   except that `none` is sent as `thinking.type`.
 * - `max_completion_tokens`: prefixes of the names of models that refuse `max_tokens`.
 * - `custom_tools`: prefixes of the names of models that accept tools of type `custom`.
 * - `openai_models`: the models are OpenAI's. Fields that one refuses, by its name, are left out:
 *   sampling parameters for models that reason, and `reasoning_effort` for all others.
 * - `max_stops`: the most stop sequences. More are `unsupported`.
 * - `effort_values`: the values of `reasoning_effort` that models take, by the longest prefix of
 *   their names. Others become the nearest one, or are left out.
 * - `refused_fields`: the fields that models refuse, by the longest prefix of their names. They are
 *   left out, except `stop`, which is `unsupported`.
 * - `message_names`: the roles whose messages may have a `name`. Without it, all.
 * - `json_schema: instruction`: only JSON of any kind is known. A system message has the schema.
 * - `forced_tools: not_thinking`: a model that thinks, as it does by default, must not be forced to
 *   call a tool.
 * - `responses`: the upstream has OpenAI's Responses API too. Calls that its models refuse on this
 *   wire, by their names, go there.
 * - `compaction`: prefixes of the names of models whose conversations the Responses API compacts.
 *   Calls that ask for that, or that bring such a conversation back, go there.
 */
export const chat = withResponses(responses);
