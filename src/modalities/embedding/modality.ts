import type { Bill } from '../../billing/bill.js';
import type { Model, Upstream } from '../../core/model.js';
import type { Modality } from '../../pipeline/modality.js';
import { spendingOperation } from '../../pipeline/operation.js';
import { wholeAnswer, type PaidAnswer, type SendContext, type Work } from '../../pipeline/work.js';
import type { EmbeddingCall } from './codec.js';
import {
  embedding as openAiFormat,
  openAiEmbeddings,
  type EmbeddingFormat,
} from './formats/embedding.js';
import { readEmbedding } from './manifest.js';
import { embeddingBill, embeddingMaxCost, type EmbeddingTerms } from './price.js';
import { probeEmbedding } from './probe.js';
import { sampleBill } from './sample-bill.js';
import { sendEmbedding } from './send.js';

const FORMATS: readonly EmbeddingFormat[] = [openAiFormat];

/** An embedding request fitted to its model. */
class PlannedEmbeddings implements Work {
  upstreams: readonly Upstream[];
  readonly repeatable = true;

  constructor(
    private readonly format: EmbeddingFormat,
    private readonly call: EmbeddingCall,
    readonly ignored: readonly string[],
    private readonly model: Model,
  ) {
    this.upstreams = model.upstreams;
  }

  maxCost(): bigint {
    return embeddingMaxCost(this.call, this.upstreams);
  }

  async send(upstream: Upstream, context: SendContext): Promise<PaidAnswer> {
    const { call, format, model } = this;
    const { vectors, usage } = await sendEmbedding(
      call,
      upstream,
      context.client,
      context.services,
    );
    const terms = this.#termsFor(upstream, context);
    return wholeAnswer({
      provider: upstream.provider.name,
      bill: () => embeddingBill(usage, terms),
      write: (bill) => format.write(model, call, vectors, bill),
    });
  }

  unansweredBill(upstream: Upstream, context: SendContext): Promise<Bill> {
    return embeddingBill(undefined, this.#termsFor(upstream, context));
  }

  #termsFor({ price }: Upstream, { hold }: SendContext): EmbeddingTerms {
    const { call, model } = this;
    return { call, model, price, hold_nano: hold.amount_nano };
  }
}

/** Embeddings: vectors of texts. */
export const embedding: Modality = {
  name: 'embedding',
  refinements: [],
  formats: FORMATS,
  endpoints: [openAiEmbeddings],
  operations: [
    spendingOperation({
      name: 'embedding',
      modality: 'embedding',
      format: openAiFormat.name,
      gives: 'answer',
      money: 'spends',
    }),
  ],
  tasks: {},
  units: { input_per_million: { pays: ['embedding'] } },
  limits: {},
  manifest: { served_by: [['embedding']], read: readEmbedding },
  does: 'makes embeddings',
  fields: {
    own: ['model', 'input', 'dimensions', 'encoding_format', 'user'],
    held: ['model'],
    refused: [],
  },
  plan: ({ format: name, body }, model) => {
    const format = FORMATS.find((one) => one.name === name);
    if (!format) throw new Error(`No embedding format is called ${name}.`);
    const { call, ignored } = format.read(body, model);
    return new PlannedEmbeddings(format, call, ignored, model);
  },
  example: sampleBill,
  sampleCall: (model) => ({
    path: '/v1/embeddings',
    body: { model, input: 'A lighthouse at dawn' },
    client: {
      method: 'embeddings.create',
      python: 'answer.data[0].embedding[:4]',
      node: 'answer.data[0].embedding.slice(0, 4)',
    },
  }),
  probe: probeEmbedding,
};
