import { OPENAI_BASE } from '../../../pipeline/second-path.js';
import type { ResponsesBody } from '../../../schema-types/responses.js';
import { countingEndpoint } from '../count-tokens.js';
import type { ChatFormat } from './format.js';
import { responses } from './responses.js';

const { socket: _socket, ...format } = responses;

/** Counts the tokens of a prompt of the Responses API. */
export const responsesCount: ChatFormat = {
  ...format,
  name: 'responses-count',
  only_counts: true,
  // The output limit, which may be above the model's, and streaming do not matter for counting.
  read: (body, model, headers) => {
    const { max_output_tokens: _, stream: _stream, ...prompt } = body as ResponsesBody;
    return responses.read(prompt, model, headers);
  },
  endpoint: countingEndpoint('responses-count', 'POST /v1/responses/input_tokens', OPENAI_BASE),
  description: {
    summary: 'Count the tokens of a response',
    details: 'An estimate that costs nothing. Nothing is held for it, and no upstream is asked.',
    status: 200,
    content: { 'application/json': 'responses-count#/$defs/answer' },
  },
  count: (input_tokens) => ({ object: 'response.input_tokens', input_tokens }),
};
