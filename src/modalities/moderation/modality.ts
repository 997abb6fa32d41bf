import { spendingOperation } from '../../pipeline/operation.js';
import type { Modality } from '../../pipeline/modality.js';
import { unaryPlan } from '../../pipeline/unary-work.js';
import { wholeAnswer } from '../../pipeline/work.js';
import { moderation as openAiFormat, type ModerationFormat } from './formats/moderation.js';
import { readModeration } from './manifest.js';
import { moderationBill, moderationMaxCost, sampleBill } from './price.js';
import { sendModeration } from './send.js';

const FORMATS: readonly ModerationFormat[] = [openAiFormat];

const plan = unaryPlan({
  name: 'moderation',
  formats: FORMATS,
  maxCost: moderationMaxCost,
  send: (call, upstream, { client, services }) => sendModeration(call, upstream, client, services),
  answer: (reply, terms, format, { request_id }) =>
    wholeAnswer({
      provider: terms.provider.name,
      bill: () => moderationBill(reply.usage, terms),
      write: () => format.write(request_id, terms.model, reply),
    }),
  unansweredBill: (terms) => moderationBill(undefined, terms),
});

/** Moderation: what may be harmful in texts and images. */
export const moderation: Modality = {
  name: 'moderation',
  formats: FORMATS,
  endpoints: [],
  operations: [spendingOperation('moderation', openAiFormat.name)],
  tasks: {},
  plan,
  configuration: {
    refinements: [],
    units: { input_per_million: { pays: ['moderation'] } },
    manifest: { served_by: [['moderation']], read: readModeration },
    does: 'judges what it reads',
    fields: {
      own: ['model', 'input'],
      held: ['model'],
      refused: [],
      default_schemas: ['moderation'],
    },
  },
  documentation: {
    example: sampleBill,
    sampleCall: (model) => ({
      path: '/v1/moderations',
      body: { model, input: 'A lighthouse at dawn' },
      client: {
        method: 'moderations.create',
        python: 'answer.results[0].flagged',
        node: 'answer.results[0].flagged',
      },
    }),
  },
};
