import { countingEndpoint } from '../count-tokens.js';
import type { ChatFormat } from './format.js';
import { messages } from './messages.js';

/** The prompt of a message, which is counted and not answered. */
export const messagesCount: ChatFormat = {
  ...messages,
  name: 'messages-count',
  endpoint: countingEndpoint('messages-count', 'POST /v1/messages/count_tokens'),
  description: {
    summary: 'Count the tokens of a message',
    details: 'An estimate that costs nothing. Nothing is held for it, and no upstream is asked.',
    status: 200,
    content: { 'application/json': 'messages-count#/$defs/answer' },
  },
};
