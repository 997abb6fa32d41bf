import type { Modality } from '../../pipeline/modality.js';
import { spendingOperation } from '../../pipeline/operation.js';
import { unaryPlan } from '../../pipeline/unary-work.js';
import { wholeAnswer } from '../../pipeline/work.js';
import { embedding as openAiFormat, type EmbeddingFormat } from './formats/embedding.js';
import { batchEmbedContents, embedContent } from './formats/embed-content.js';
import { readEmbedding } from './manifest.js';
import { embeddingBill, embeddingMaxCost, embeddingMaxTokens } from './price.js';
import { probeEmbedding } from './probe.js';
import { sampleBill } from './sample-bill.js';
import { sendEmbedding } from './send.js';

const FORMATS: readonly EmbeddingFormat[] = [openAiFormat, embedContent, batchEmbedContents];

const plan = unaryPlan({
  name: 'embedding',
  formats: FORMATS,
  maxCost: (call, _model, upstreams) => embeddingMaxCost(call, upstreams),
  maxTokens: embeddingMaxTokens,
  send: (call, upstream, { client, services }) => sendEmbedding(call, upstream, client, services),
  answer: ({ vectors, usage }, terms, format) => {
    const { call, model, provider } = terms;
    return wholeAnswer({
      provider: provider.name,
      bill: () => embeddingBill(usage, terms),
      write: (bill) => format.write(model, call, vectors, bill),
    });
  },
  unansweredBill: (terms) => embeddingBill(undefined, terms),
});

/** Embeddings: vectors of texts. */
export const embedding: Modality = {
  name: 'embedding',
  formats: FORMATS,
  endpoints: [],
  operations: [spendingOperation('embedding', openAiFormat.name)],
  tasks: {},
  plan,
  probe: probeEmbedding,
  configuration: {
    refinements: [],
    units: { input_per_million: { pays: ['embedding'] } },
    manifest: { served_by: [['embedding']], read: readEmbedding },
    does: 'makes embeddings',
    fields: {
      own: ['model', 'input', 'dimensions', 'encoding_format', 'user'],
      held: ['model'],
      refused: [],
      default_schemas: ['embedding'],
    },
  },
  documentation: {
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
  },
};
