// Made by `npm run types` from schemas/responses.schema.json.

export type ResponsesTextFormat = {
  type: 'text' | 'json_object' | 'json_schema';
  name?: string;
  schema?: {};
  strict?: boolean | null;
  description?: string;
} | null;

/**
 * Body of POST /v1/responses, in the format of OpenAI's Responses API, of which nothing is kept.
 * Other fields are let in here and dropped later unless the model passes them through.
 */
export interface ResponsesBody {
  model: string;
  input: string | ResponsesItem[];
  instructions?: string | null;
  stream?: boolean | null;
  max_output_tokens?: number | null;
  temperature?: number | null;
  top_p?: number | null;
  parallel_tool_calls?: boolean | null;
  tools?: ResponsesTool[] | null;
  tool_choice?:
    | string
    | {
        type?: string;
        name?: string;
        namespace?: string;
        mode?: 'auto' | 'required';
        tools?: ResponsesAllowedTool[];
      }
    | null;
  reasoning?: {
    effort?: string | null;
    summary?: string | null;
    context?: string | null;
  } | null;
  metadata?: {
    [k: string]: string;
  } | null;
  include?: string[] | null;
  top_logprobs?: number | null;
  store?: boolean | null;
  truncation?: 'auto' | 'disabled' | null;
  stream_options?: {
    include_obfuscation?: boolean | null;
  } | null;
  text?: {
    format?: ResponsesTextFormat;
    verbosity?: string | null;
  } | null;
  previous_response_id?: string | null;
  conversation?: string | {} | null;
  prompt?: {} | null;
  background?: boolean | null;
  user?: string | null;
}
/**
 * an item of the conversation; its type says which of the fields it has, and one of another type is
 * left out
 */
export interface ResponsesItem {
  type?: string;
  role?: 'user' | 'assistant' | 'system' | 'developer';
  content?: string | ResponsesPart[] | null;
  call_id?: string | null;
  name?: string;
  namespace?: string | null;
  arguments?: string | {};
  input?: string;
  output?: string | ResponsesPart[];
  summary?: ResponsesPart[] | null;
  encrypted_content?: string | null;
  tools?: ResponsesTool[];
}
/**
 * a part of a content list; its type says which of the fields it has, and one of another type is
 * left out
 */
export interface ResponsesPart {
  type: string;
  text?: string;
  refusal?: string;
  image_url?: string | null;
  detail?: string | null;
  file_id?: string | null;
  file_data?: string | null;
  file_url?: string | null;
  filename?: string | null;
  input_audio?: {
    data: string;
    format: string;
  };
}
export interface ResponsesTool {
  type: string;
  name?: string;
  description?: string | null;
  parameters?: {} | null;
  strict?: boolean | null;
  format?: {} | null;
  tools?: ResponsesTool[];
}
export interface ResponsesAllowedTool {
  type?: string;
  name?: string;
  namespace?: string;
}
