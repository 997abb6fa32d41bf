import { leastTokens } from '../../billing/tokens.js';
import { GatewayError } from '../../core/errors.js';
import type { Model } from '../../core/model.js';
import type { ChatMessage } from '../../schema-types/chat-completion.js';
import type { ChatWork } from './call.js';

/**
 * Refuses a prompt whose text is certainly longer than the model's context, before any money is
 * held for it. Throws `GatewayError` in the words of Anthropic, which its clients read.
 */
export function refuseTooLong({ call, size, names }: ChatWork, { limits }: Model): void {
  const { context = Infinity } = limits;
  // All bytes that count in the hold are more than those of the messages.
  if (leastTokens(size.text_bytes) <= context) return;
  const tokens = leastTokens(call.messages.reduce((sum, one) => sum + textBytes(one), 0));
  if (tokens <= context) return;
  const message = `The prompt is too long: ${tokens} tokens > ${context} maximum, at the least.`;
  const param = names?.ofField('messages') ?? 'messages';
  throw new GatewayError('context_length_exceeded', message, { param });
}

/** The bytes of a message that every upstream reads as text. */
function textBytes({ content }: ChatMessage): number {
  if (typeof content === 'string') return Buffer.byteLength(content);
  const parts = content ?? [];
  return parts.reduce(
    (sum, part) => sum + (part.type === 'text' ? Buffer.byteLength(part.text) : 0),
    0,
  );
}
