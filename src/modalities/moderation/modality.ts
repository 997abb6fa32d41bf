import type { Bill } from '../../billing/bill.js';
import type { Model, Upstream } from '../../core/model.js';
import { spendingOperation } from '../../pipeline/operation.js';
import type { Modality } from '../../pipeline/modality.js';
import { wholeAnswer, type PaidAnswer, type SendContext, type Work } from '../../pipeline/work.js';
import type { ModerationCall } from './codec.js';
import { moderation as openAiFormat, type ModerationFormat } from './formats/moderation.js';
import { readModeration } from './manifest.js';
import { moderationBill, moderationMaxCost, sampleBill, type ModerationTerms } from './price.js';
import { sendModeration } from './send.js';

const FORMATS: readonly ModerationFormat[] = [openAiFormat];

/** A moderation request fitted to its model. */
class PlannedModeration implements Work {
  upstreams: readonly Upstream[];
  readonly repeatable = true;

  constructor(
    private readonly format: ModerationFormat,
    private readonly call: ModerationCall,
    readonly ignored: readonly string[],
    private readonly model: Model,
  ) {
    this.upstreams = model.upstreams;
  }

  maxCost(): bigint {
    return moderationMaxCost(this.call, this.model, this.upstreams);
  }

  async send(upstream: Upstream, context: SendContext): Promise<PaidAnswer> {
    const { call, format, model } = this;
    const { client, services, request_id } = context;
    const reply = await sendModeration(call, upstream, client, services);
    const terms = this.#termsFor(upstream, context);
    return wholeAnswer({
      provider: upstream.provider.name,
      bill: () => moderationBill(reply.usage, terms),
      write: () => format.write(request_id, model, reply),
    });
  }

  unansweredBill(upstream: Upstream, context: SendContext): Promise<Bill> {
    return moderationBill(undefined, this.#termsFor(upstream, context));
  }

  #termsFor({ provider, price }: Upstream, { hold }: SendContext): ModerationTerms {
    const { call, model } = this;
    return { call, model, provider, price, hold_nano: hold.amount_nano };
  }
}

/** Moderation: what may be harmful in texts and images. */
export const moderation: Modality = {
  name: 'moderation',
  refinements: [],
  formats: FORMATS,
  endpoints: [],
  operations: [
    spendingOperation({
      name: 'moderation',
      modality: 'moderation',
      format: openAiFormat.name,
      gives: 'answer',
      money: 'spends',
    }),
  ],
  tasks: {},
  units: { input_per_million: { pays: ['moderation'] } },
  limits: { image_tokens: ['moderation'] },
  manifest: { served_by: [['moderation']], read: readModeration },
  does: 'judges what it reads',
  fields: { own: ['model', 'input'], held: ['model'], refused: [] },
  plan: ({ format: name, body }, model) => {
    const format = FORMATS.find((one) => one.name === name);
    if (!format) throw new Error(`No moderation format is called ${name}.`);
    const { call, ignored } = format.read(body, model);
    return new PlannedModeration(format, call, ignored, model);
  },
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
};
