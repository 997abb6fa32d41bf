import { GatewayError } from '../../../core/errors.js';
import { publicName } from '../../../core/model.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import { OPENAI_BASE } from '../../../pipeline/second-path.js';
import type { ChatFormat } from './format.js';
import { responses } from './responses.js';

/**
 * Compaction by the Responses API: a text that only the account that encrypted it can read stands
 * for the conversation. No codec sends such a text back, so a client is told so before it pays.
 */
export const responsesCompact: ChatFormat = {
  ...responses,
  name: 'responses-compact',
  endpoint: spendingEndpoint('responses-compact', 'POST /v1/responses/compact', {
    modality: 'chat',
    format: 'responses-compact',
    also: OPENAI_BASE,
  }),
  description: {
    summary: 'Compact a conversation, which no upstream does here',
    details: 'Always 400: a client asks for a summary by a response in place of it.',
    status: 200,
    content: {},
  },
  read: (_, model) => {
    const message =
      `${publicName(model)} cannot compact a conversation here: ask for a summary by ` +
      'POST /v1/responses, as codex does for a provider of its own (model_providers).';
    throw new GatewayError('unsupported_capability', message, { param: 'model' });
  },
};
