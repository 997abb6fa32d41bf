// Made by `npm run types` from schemas/messages.schema.json.

export type MessagesCacheControl = {
  type: string;
  ttl?: string;
} | null;
export type MessagesOutputFormat = {
  type: 'json_schema';
  schema?: {};
} | null;

/**
 * Body of POST /v1/messages, in the format of Anthropic's Messages API. Other fields are let in
 * here and dropped later unless the model passes them through.
 */
export interface MessagesBody {
  model: string;
  max_tokens?: number;
  messages: MessagesMessage[];
  system?: string | MessagesBlock[] | null;
  stream?: boolean | null;
  stop_sequences?: string[] | null;
  temperature?: number | null;
  top_p?: number | null;
  tools?: MessagesTool[] | null;
  tool_choice?: {
    type: 'auto' | 'any' | 'tool' | 'none';
    name?: string;
    disable_parallel_tool_use?: boolean;
  } | null;
  thinking?: {
    type: 'enabled' | 'adaptive' | 'between_tools' | 'disabled';
    budget_tokens?: number;
    display?: string | null;
  } | null;
  output_config?: {
    effort?: string | null;
    format?: MessagesOutputFormat;
  } | null;
  output_format?: MessagesOutputFormat;
  context_management?: {
    edits?:
      | {
          type: string;
        }[]
      | null;
  } | null;
  /** A conversation that the server keeps. This one keeps none and refuses it. */
  thread?: {} | null;
  metadata?: {
    user_id?: string | null;
  } | null;
}
export interface MessagesMessage {
  role: 'user' | 'assistant' | 'system';
  content: string | MessagesBlock[];
}
/**
 * a content block; its type says which of the fields it has, and of one of another type only its
 * text is read
 */
export interface MessagesBlock {
  type: string;
  text?: string;
  /** of an image or a document; of a search result a text */
  source?: MessagesSource | string;
  context?: string | null;
  title?: string | null;
  id?: string;
  name?: string;
  input?: {};
  tool_use_id?: string;
  content?: string | MessagesBlock[] | {};
  is_error?: boolean | null;
  tool_name?: string;
  thinking?: string;
  signature?: string;
  data?: string;
  cache_control?: MessagesCacheControl;
}
export interface MessagesSource {
  type: string;
  media_type?: string;
  data?: string;
  url?: string;
  file_id?: string;
  content?: string | MessagesBlock[];
}
export interface MessagesTool {
  type?: string | null;
  name?: string;
  description?: string;
  input_schema?: {};
  strict?: boolean | null;
  defer_loading?: boolean | null;
  eager_input_streaming?: boolean | null;
  input_examples?: {}[] | null;
  cache_control?: MessagesCacheControl;
}
