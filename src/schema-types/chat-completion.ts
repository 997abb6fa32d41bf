// Made by `npm run types` from schemas/chat-completion.schema.json.

export type ContentPart = TextPart | ImagePart | AudioPart | FilePart;
export type Tokens = number;

/**
 * Body of POST /v1/chat/completions: service specification 2.1 to 2.3 and 8. Other fields are let
 * in here and dropped later unless the model passes them through.
 */
export interface ChatCompletionBody {
  model: string;
  messages: ChatMessage[];
  stream?: boolean;
  temperature?: number;
  top_p?: number;
  max_tokens?: Tokens;
  max_completion_tokens?: Tokens;
  stop?: string | string[];
  n?: number;
  presence_penalty?: number;
  frequency_penalty?: number;
  user?: string;
  stream_options?: {};
  tools?: ToolEntry[];
  tool_choice?: string | {};
  parallel_tool_calls?: boolean;
  /** the older spelling of tools */
  functions?: OfferedFunction[];
  function_call?: string | {};
}
export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content?: string | ContentPart[] | null;
  name?: string;
  tool_call_id?: string;
  reasoning_content?: string | null;
  /** what an upstream demands back with its reasoning, as its answer gave it */
  reasoning_details?: {}[] | null;
  cache_control?: CacheControl;
  /** whether the tool failed */
  is_error?: boolean;
  tool_calls?: ToolCallPart[];
  /** the older spelling of tool_calls, which a call is translated into */
  function_call?: null;
}
export interface TextPart {
  type: 'text';
  text: string;
  cache_control?: CacheControl;
}
export interface CacheControl {
  type: string;
  ttl?: string;
}
export interface ImagePart {
  type: 'image_url';
  image_url: {
    url: string;
    detail?: string;
  };
  cache_control?: CacheControl;
}
export interface AudioPart {
  type: 'input_audio';
  input_audio: {
    data: string;
    format: string;
  };
}
export interface FilePart {
  type: 'file';
  /** a data URL, or a URL, in file_data; or an ID of the upstream in file_id */
  file: {
    filename?: string;
    file_data?: string;
    file_id?: string;
  };
  cache_control?: CacheControl;
}
export interface ToolCallPart {
  id: string;
  type: 'function';
  function: {
    name: string;
    arguments: string;
  };
}
/** a function, a custom tool, or a tool of another type that the model lists */
export interface ToolEntry {
  type: string;
  function?: {};
  /** a tool that takes a text, perhaps by a grammar */
  custom?: {
    name: string;
    description?: string;
    format?: {};
  };
  cache_control?: CacheControl;
}
export interface OfferedFunction {
  name: string;
}
