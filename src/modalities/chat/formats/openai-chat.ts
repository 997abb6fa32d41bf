import type { ChatCompletionBody } from '../../../schema-types/chat-completion.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import { contractModels } from '../../../pipeline/model-list-format.js';
import type { ChatChoice } from '../codec.js';
import type { ChatFormat } from './format.js';
import { ChunkWriter, completion, openAiUsage } from './openai-answer.js';
import { callFormat } from './openai-calls.js';
import { CHAT_TEXTS } from './openai-texts.js';
import { repairOpenBody } from './openai-tidy.js';
import { completionRequest } from './chat-completion.js';
import { neededCapabilities } from './needs.js';
import { movedInChat } from './moved-texts.js';

interface Contract {
  choices: { message: { content: string | null }; logprobs?: unknown }[];
}

/** OpenAI's own chat completions: answers have every field that its clients know, null if empty. */
export const openAiChat: ChatFormat = {
  name: 'openai-chat',
  endpoint: spendingEndpoint('openai-chat', 'POST /openai/v1/chat/completions', {
    modality: 'chat',
    format: 'openai-chat',
  }),
  description: {
    summary: "Create a chat completion, in OpenAI's own format",
    details:
      'A stream ends with `[DONE]`, and before it has its usage where `stream_options` says ' +
      '`include_usage`.',
    status: 200,
    content: {
      'application/json': 'openai-chat#/$defs/answer',
      'text/event-stream': 'openai-chat#/$defs/chunk',
    },
  },
  repair: repairOpenBody,
  models: contractModels,
  needs: neededCapabilities,
  texts: CHAT_TEXTS,
  findMoved: movedInChat,
  modelOf: (body) => (body as ChatCompletionBody).model,
  // The body was validated: its schema refines the one from which its type is generated.
  read: (body, model, _, texts) => completionRequest(body as ChatCompletionBody, model, texts),
  write: (head, reply, bill, request) => {
    const answer = completion(head, reply, bill.usage, request);
    const { choices } = answer as Contract;
    return {
      ...answer,
      object: 'chat.completion',
      system_fingerprint: null,
      choices: choices.map((choice, at) => choiceBody(choice, reply.choices[at])),
      usage: openAiUsage(bill, head),
    };
  },
  stream: (head, visible, request) =>
    new ChunkWriter(head, visible, {
      object: 'chat.completion.chunk',
      opening: { content: '', refusal: null },
      null_logprobs: true,
      refusals: true,
      usage: request.include_usage ? 'asked' : 'never',
      usage_details: true,
      calls: callFormat(request),
    }),
};

function choiceBody(
  { message, logprobs = null, ...rest }: Contract['choices'][number],
  choice: ChatChoice | undefined,
): object {
  const { content } = message;
  const texts = choice?.is_refusal ? { content: null, refusal: content } : { refusal: null };
  const cited = choice?.annotations && { annotations: choice.annotations };
  return { ...rest, message: { ...message, ...texts, ...cited }, logprobs };
}
