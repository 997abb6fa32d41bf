import { recordsIn } from '../../../lib/objects.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import { OPENAI_BASE } from '../../../pipeline/second-path.js';
import type { ResponsesBody } from '../../../schema-types/responses.js';
import type { ChatReply } from '../codec.js';
import type { ChatFormat } from './format.js';
import { responses } from './responses.js';
import { responseId, responsesUsage } from './responses-items.js';
import { sealed } from './sealed-reasoning.js';

const { socket: _socket, ...format } = responses;

/** Compacts a conversation of the Responses API where an upstream of the model does. */
export const responsesCompact: ChatFormat = {
  ...format,
  name: 'responses-compact',
  endpoint: spendingEndpoint('responses-compact', 'POST /v1/responses/compact', {
    modality: 'chat',
    format: 'responses-compact',
    also: OPENAI_BASE,
  }),
  description: {
    summary: 'Compact a conversation',
    details:
      'Answers with the messages of the user and an item that stands for the rest, for the ' +
      'input of later responses. 400 for a model none of whose upstreams compacts.',
    status: 200,
    content: { 'application/json': 'responses-compact#/$defs/answer' },
  },
  // The API neither limits nor streams the answer. The model's whole limit is held.
  read: (body, model, headers) => {
    const { max_output_tokens, stream, ...prompt } = body as ResponsesBody;
    const limits = { max_output_tokens: model.limits.max_tokens };
    const request = responses.read({ ...prompt, ...limits }, model, headers);
    const lost = Object.entries({ max_output_tokens, stream }).filter(([, value]) => value != null);
    return {
      ...request,
      call: { ...request.call, compaction: 'call' },
      shows_reasoning: true,
      ignored: [...request.ignored, ...lost.map(([name]) => name)],
    };
  },
  write: (head, reply, { usage }) => ({
    id: responseId(head),
    object: 'response.compaction',
    created_at: head.created,
    output: outputOf(reply),
    usage: responsesUsage(usage),
  }),
};

/** The items of the answer as they came, except that the state in them is sealed. */
function outputOf({ choices: [choice], others }: ChatReply): object[] {
  const details = choice?.reasoning_details ?? [];
  return recordsIn(others?.output).map((item) => {
    const detail = details.find(({ data }) => data === item.encrypted_content);
    return detail ? { ...item, encrypted_content: sealed([detail]) } : item;
  });
}
