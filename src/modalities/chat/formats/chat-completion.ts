import type { ChatCompletionBody } from '../../../schema-types/chat-completion.js';
import { spendingEndpoint } from '../../../pipeline/spending.js';
import type { ChatFormat } from './format.js';
import { ChunkWriter, completion } from './openai-answer.js';
import { callFormat } from './openai-calls.js';
import { CHAT_TEXTS } from './openai-texts.js';
import { repairBody } from './openai-tidy.js';
import { completionWork } from './openai-tools.js';

/** The chat format of the service specification (2.1 to 2.5). */
export const chatCompletion: ChatFormat = {
  name: 'chat-completion',
  endpoint: spendingEndpoint('chat', 'POST /v1/chat/completions', {
    modality: 'chat',
    format: 'chat-completion',
  }),
  description: {
    summary: 'Create a chat completion',
    details: 'With `stream: true` the answer is a stream of events that ends with `[DONE]`.',
    status: 200,
    content: {
      'application/json': 'chat-completion-response',
      'text/event-stream': 'chat-completion-chunk',
    },
  },
  repair: repairBody,
  texts: CHAT_TEXTS,
  modelOf: (body) => (body as ChatCompletionBody).model,
  // The body was validated, and its type is generated from the schema.
  read: (body, model) => completionWork(body as ChatCompletionBody, model),
  write: (head, reply, { usage }, work) => completion(head, reply, usage, callFormat(work)),
  stream: (head, visible, work) =>
    new ChunkWriter(head, visible, { object: 'text_completion.chunk', calls: callFormat(work) }),
};
