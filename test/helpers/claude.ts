import { chat as claude } from '../../providers/anthropic.js';
import { preparedCodec } from '../../src/modalities/chat/prepared-codec.js';
import type { MessagesBody } from '../../providers/anthropic/wire.js';
import type { ChatCall } from '../../src/modalities/chat/codec.js';
import type { Upstream } from '../../src/core/model.js';
import { providerAt, upstreamAt } from './upstream.js';

const chat = preparedCodec(claude);

/** A call that says hello, with what differs in a test. */
export function callOf(more: Partial<ChatCall> = {}): ChatCall {
  const messages: ChatCall['messages'] = [{ role: 'user', content: 'Hello!' }];
  return { messages, stream: false, n: 1, max_tokens: 900, fields: {}, ...more };
}

/** An upstream with a model that thinks by a budget and takes sampling, unless a test says else. */
export function claudeAt(
  model = 'claude-sonnet-4-5',
  more: Partial<Upstream> = {},
  wire: Record<string, unknown> = {},
): Upstream {
  return upstreamAt(providerAt('http://fake.invalid', { wire }), { model, ...more });
}

/** The body that goes to Anthropic. */
export function bodyOf(call: Partial<ChatCall>, to: Upstream = claudeAt()): MessagesBody {
  return chat.encode(callOf(call), to).body as unknown as MessagesBody;
}

/** The names of what is left out of it. */
export function ignoredOf(call: Partial<ChatCall>, to: Upstream = claudeAt()): readonly string[] {
  return chat.encode(callOf(call), to).ignored ?? [];
}

/** What a test's function throws. */
export function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}
