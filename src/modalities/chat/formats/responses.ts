import { spendingEndpoint } from '../../../pipeline/fallback.js';
import type { ResponsesBody } from '../../../schema-types/responses.js';
import type { ChatReply } from '../codec.js';
import type { Heading, ClientTools } from '../call.js';
import type { ChatFormat } from './format.js';
import { chatWork } from './openai-request.js';
import {
  callItem,
  endingOf,
  itemId,
  messageItem,
  reasoningItem,
  response,
  type Item,
} from './responses-items.js';
import { toCompletion } from './responses-request.js';
import { ResponsesWriter } from './responses-stream.js';

/** OpenAI's Responses API, as its SDKs and codex speak it, for every chat model. */
export const responses: ChatFormat = {
  name: 'responses',
  limit: 'max_output_tokens',
  endpoint: spendingEndpoint('responses', 'POST /v1/responses', {
    modality: 'chat',
    format: 'responses',
  }),
  description: {
    summary: "Create a response, in the words of OpenAI's Responses API",
    details:
      'Nothing is kept: each request brings the whole conversation. With `stream: true` the ' +
      'answer is a stream of events that ends with `response.completed`.',
    status: 200,
    content: {
      'application/json': 'responses#/$defs/answer',
      'text/event-stream': 'responses#/$defs/event',
    },
  },
  modelOf: (body) => (body as ResponsesBody).model,
  read: (body, model) => {
    // The schema vouches for the body: its type is made from it.
    const { body: completion, tools, ignored } = toCompletion(body as ResponsesBody, model);
    const work = chatWork(completion, model);
    return { ...work, tools, ignored: [...work.ignored, ...ignored] };
  },
  write: (heading, reply, { usage }, { tools }) => {
    const [choice] = reply.choices;
    const ending = endingOf(choice?.finish_reason, Boolean(choice?.tool_calls));
    return response(heading, itemsOf(heading, reply, tools), ending, usage);
  },
  stream: (heading, shown, { tools }) => new ResponsesWriter(heading, shown, tools),
};

function itemsOf(heading: Heading, { choices: [choice] }: ChatReply, tools?: ClientTools): Item[] {
  const items: Item[] = [];
  if (!choice) return items;
  const { content, reasoning_content = '', reasoning_details = [], tool_calls = [] } = choice;
  const id = (kind: string): string => itemId(kind, heading, items.length);
  if (reasoning_content !== '' || reasoning_details.length > 0) {
    items.push(reasoningItem(id('rs'), reasoning_content, reasoning_details));
  }
  if (content) items.push(messageItem(id('msg'), content));
  for (const call of tool_calls) items.push(callItem(id('fc'), call, tools));
  return items;
}
