import type { MessagesBody } from '../../../schema-types/messages.js';
import { countingEndpoint } from '../count-tokens.js';
import type { ChatFormat } from './format.js';
import { messages } from './messages.js';

/** Counts the tokens of a prompt of the Messages API. */
export const messagesCount: ChatFormat = {
  ...messages,
  name: 'messages-count',
  only_counts: true,
  // The output limit does not matter for counting, and may be above the model's.
  read: (body, model, headers) => {
    const { max_tokens: _, ...prompt } = body as MessagesBody;
    return messages.read(prompt, model, headers);
  },
  endpoint: countingEndpoint('messages-count', 'POST /v1/messages/count_tokens'),
  description: {
    summary: 'Count the tokens of a message',
    details: 'An estimate that costs nothing. Nothing is held for it, and no upstream is asked.',
    status: 200,
    content: { 'application/json': 'messages-count#/$defs/answer' },
  },
};
