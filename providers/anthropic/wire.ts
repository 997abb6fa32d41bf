/** The parts of a request to the Messages API that the gateway sends. */

export interface CacheControl {
  type: 'ephemeral';
  ttl?: '5m' | '1h';
}

interface Cacheable {
  cache_control?: CacheControl;
}

export interface TextBlock extends Cacheable {
  type: 'text';
  text: string;
}

export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;

export interface UrlSource {
  type: 'url';
  url: string;
}

export interface ImageBlock extends Cacheable {
  type: 'image';
  source: { type: 'base64'; media_type: (typeof IMAGE_TYPES)[number]; data: string } | UrlSource;
}

export interface DocumentBlock extends Cacheable {
  type: 'document';
  source:
    | { type: 'base64'; media_type: 'application/pdf'; data: string }
    | { type: 'text'; media_type: 'text/plain'; data: string }
    | { type: 'content'; content: (TextBlock | ImageBlock)[] }
    | UrlSource;
  title?: string;
  context?: string;
}

export interface SearchResultBlock extends Cacheable {
  type: 'search_result';
  source: string;
  title: string;
  content: TextBlock[];
}

/** A block of a user's message or a tool result. */
export type MediaBlock = TextBlock | ImageBlock | DocumentBlock | SearchResultBlock;

/** A tool that was to be loaded later and can be called from here on. */
export interface ToolReferenceBlock extends Cacheable {
  type: 'tool_reference';
  tool_name: string;
}

export interface ToolUseBlock extends Cacheable {
  type: 'tool_use';
  id: string;
  name: string;
  input: Record<string, unknown>;
}

export interface ToolResultBlock extends Cacheable {
  type: 'tool_result';
  tool_use_id: string;
  content?: (MediaBlock | ToolReferenceBlock)[];
  is_error?: boolean;
}

export interface ThinkingBlock {
  type: 'thinking';
  thinking: string;
  signature: string;
}

export interface RedactedThinkingBlock {
  type: 'redacted_thinking';
  data: string;
}

export type ReasoningBlock = ThinkingBlock | RedactedThinkingBlock;

/** A block of a tool that the API has run itself, as its client brings it back. */
export interface ServerToolBlock extends Cacheable {
  type: 'server_tool_use' | `${string}_tool_result`;
}

export type Block = MediaBlock | ToolUseBlock | ToolResultBlock | ReasoningBlock | ServerToolBlock;

interface SpokenTurn {
  role: 'user' | 'assistant';
  content: Block[];
}

interface SystemTurn {
  role: 'system';
  content: TextBlock[];
}

export type Turn = SpokenTurn | SystemTurn;

export interface Tool extends Cacheable {
  name: string;
  description?: string;
  input_schema: { type: 'object'; [name: string]: unknown };
  strict?: boolean;
  defer_loading?: boolean;
  eager_input_streaming?: boolean;
  input_examples?: Record<string, unknown>[];
}

export type ToolChoice =
  | { type: 'auto' | 'any'; disable_parallel_tool_use?: boolean }
  | { type: 'tool'; name: string; disable_parallel_tool_use?: boolean }
  | { type: 'none' };

/** Whether thoughts are shown, or their signatures alone. */
export type Display = 'summarized' | 'omitted';

export type Thinking =
  | { type: 'enabled'; budget_tokens: number; display?: Display }
  | { type: 'adaptive'; display: Display }
  | { type: 'disabled' }
  | { type: 'between_tools' };

export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface OutputConfig {
  effort?: Effort;
  format?: { type: 'json_schema'; schema: Record<string, unknown> };
}

/** A request without the envelope, which differs where Claude is reached by way of a cloud. */
export interface MessagesBody extends Cacheable {
  max_tokens: number;
  messages: Turn[];
  system?: TextBlock[];
  stop_sequences?: string[];
  temperature?: number;
  top_p?: number;
  top_k?: number;
  /** Beside functions, tools of the upstream's own, which the model lists in gateway.yaml. */
  tools?: (Tool | Record<string, unknown>)[];
  tool_choice?: ToolChoice;
  thinking?: Thinking;
  output_config?: OutputConfig;
  metadata?: { user_id: string };
  service_tier?: 'auto' | 'standard_only';
  context_management?: { edits: Record<string, unknown>[] };
}
