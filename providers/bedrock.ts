import { CLAUDE_TOOL_RULES, wire_flags as claude_flags } from './anthropic/codec.js';
import { estimateTokens } from './anthropic/count.js';
import { isClaude } from './anthropic/models.js';
import type { ChatCodec, ToolRules } from '../src/modalities/chat/codec.js';
import type { Upstream } from '../src/core/model.js';
import { decode } from './bedrock/answer.js';
import { openFrames } from './bedrock/frames.js';
import { invoke } from './bedrock/invoke.js';
import { cacheMarks } from './bedrock/model.js';
import { encode } from './bedrock/request.js';
import { decodeStream } from './bedrock/stream.js';

/**
 * The wire flags that this codec reads: those of Claude's wire, and `invoke_claude: true`, which
 * sends Claude models the body of the Messages API by InvokeModel.
 */
export const wire_flags = [...claude_flags, 'invoke_claude'] as const;

const converse = { encode, decode, decodeStream, cacheMarks };

/** What Amazon Bedrock takes of tools. Mistral's models know IDs of nine characters. */
const TOOL_RULES: ToolRules = {
  ...CLAUDE_TOOL_RULES,
  names: { ...CLAUDE_TOOL_RULES.names, max: 64 },
};
const MISTRAL_TOOL_RULES: ToolRules = {
  ...TOOL_RULES,
  ids: { illegal: /[^a-zA-Z0-9]/gu, max: 9, is_exact: true },
};

function codecOf({ model, provider }: Upstream): Omit<ChatCodec, 'openFrames'> {
  return provider.wire.invoke_claude === true && isClaude(model) ? invoke : converse;
}

/** Amazon Bedrock by its operations Converse and ConverseStream, for every model that it serves. */
export const chat: ChatCodec = {
  encode: (call, upstream) => codecOf(upstream).encode(call, upstream),
  decode: (body, call, upstream) => codecOf(upstream).decode(body, call, upstream),
  decodeStream: (call, upstream) => codecOf(upstream).decodeStream(call, upstream),
  toolRules: (_, { model }) => (/mistral/iu.test(model) ? MISTRAL_TOOL_RULES : TOOL_RULES),
  estimateTokens,
  cacheMarks: (upstream) => codecOf(upstream).cacheMarks?.(upstream),
  openFrames,
};

/** Signs requests if the provider has AWS keys instead of a Bedrock API key. */
export { sign } from './bedrock/sign.js';
