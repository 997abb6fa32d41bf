import { spendingEndpoint } from '../../../pipeline/operation.js';
import { OPENAI_BASE } from '../../../pipeline/second-path.js';
import type { ResponsesBody } from '../../../schema-types/responses.js';
import type { ChatChoice } from '../codec.js';
import type { AnswerHead, ClientTools } from '../call.js';
import type { ChatFormat } from './format.js';
import {
  withLastStatus,
  callItem,
  compactionItem,
  responseStatus,
  itemId,
  logprobsOf,
  messageItem,
  reasoningItem,
  response,
  splitDetails,
  type Item,
} from './responses-items.js';
import { repairItems } from './responses-input.js';
import { RESPONSES_TEXTS } from './responses-texts.js';
import { responsesRequest } from './responses-request.js';
import { responsesSocket } from './responses-socket.js';
import { failedStream, ResponsesWriter } from './responses-stream.js';
import { hostedItem } from './hosted-search.js';
import { neededCapabilities } from './needs.js';
import { movedInResponses } from './moved-texts.js';

/** OpenAI's Responses API, for its SDKs and codex, with every chat model. */
export const responses: ChatFormat = {
  name: 'responses',
  limit: 'max_output_tokens',
  endpoint: spendingEndpoint('responses', 'POST /v1/responses', {
    modality: 'chat',
    format: 'responses',
    also: OPENAI_BASE,
  }),
  description: {
    summary: "Create a response, in the format of OpenAI's Responses API",
    details:
      'Nothing is kept: each request brings the whole conversation. With `stream: true` the ' +
      'answer is a stream of events that ends with `response.completed`.',
    status: 200,
    content: {
      'application/json': 'responses#/$defs/answer',
      'text/event-stream': 'responses#/$defs/event',
    },
  },
  repair: repairItems,
  needs: neededCapabilities,
  texts: RESPONSES_TEXTS,
  findMoved: movedInResponses,
  modelOf: (body) => (body as ResponsesBody).model,
  // The body was validated, and its type is generated from the schema.
  read: (body, model, _, texts) => responsesRequest(body as ResponsesBody, model, texts),
  write: (head, reply, { usage }, request) => {
    const [choice] = reply.choices;
    const ending = responseStatus(choice?.finish_reason, Boolean(choice?.tool_calls));
    const output = withLastStatus(itemsOf(head, choice, request.tools), ending.status);
    return response({ head, echo: request.echo }, output, ending, usage);
  },
  stream: (head, visible, request) => new ResponsesWriter(head, visible, request),
  errorStream: failedStream,
  socket: responsesSocket,
};

function itemsOf(head: AnswerHead, choice?: ChatChoice, tools?: ClientTools): Item[] {
  const items: Item[] = [];
  if (!choice) return items;
  const { content, reasoning_content = '', tool_calls = [] } = choice;
  const [reasoning_details, compactions] = splitDetails(choice.reasoning_details);
  const { hosted_parts = [], annotations } = choice;
  const id = (kind: string): string => itemId(kind, head, items.length);
  if (reasoning_content !== '' || reasoning_details.length > 0) {
    items.push(reasoningItem(id('rs'), reasoning_content, reasoning_details));
  }
  for (const part of hosted_parts) {
    const item = hostedItem(part, id('ws'));
    if (item) items.push(item as Item);
  }
  if (content) {
    const { is_refusal, logprobs } = choice;
    const words = { text: content, is_refusal, logprobs: logprobsOf(logprobs), annotations };
    items.push(messageItem(id('msg'), words));
  }
  for (const call of tool_calls) items.push(callItem(id('fc'), call, tools));
  for (const compaction of compactions) items.push(compactionItem(id('cmp'), compaction));
  return items;
}
