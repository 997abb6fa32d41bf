import type { ChatChoice, ChatReply } from '../codec.js';
import { finishReason } from './openai-finish.js';
import { type TokenUsage, usageBody } from '../../../core/usage.js';
import type { Heading } from '../shown.js';

/** The answer to a chat call that is not streamed (specification 2.4). */
export function completion(heading: Heading, reply: ChatReply, usage: TokenUsage): object {
  const { id, created, model } = heading;
  const choices = reply.choices.map(choiceBody);
  return { id, object: 'text_completion', created, model, choices, usage: usageBody(usage) };
}

function choiceBody(choice: ChatChoice): object {
  const { index, content, tool_calls, reasoning_content, logprobs } = choice;
  const message: Omit<ChatChoice, 'index' | 'finish_reason'> & { role: 'assistant' } = {
    role: 'assistant',
    content: content ?? (tool_calls ? null : ''),
  };
  if (reasoning_content !== undefined) message.reasoning_content = reasoning_content;
  if (tool_calls) message.tool_calls = tool_calls;
  const finish_reason = finishReason(choice.finish_reason, tool_calls !== undefined);
  return logprobs === undefined
    ? { index, message, finish_reason }
    : { index, message, logprobs, finish_reason };
}
