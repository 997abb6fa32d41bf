import { expect } from 'chai';
import { ask, errorOf, type Answer } from '../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { expectShape } from '../../helpers/schemas.js';
import { play, startUpstream, type FakeUpstream, type Step } from '../../helpers/upstream.js';

/** Nano-dollars of a token of the model `vectors`. */
export const TOKEN_NANO = 2_000n;

export interface Embeddings {
  object: 'list';
  data: { object: 'embedding'; index: number; embedding: number[] | string }[];
  model: string;
  usage: { prompt_tokens: number; total_tokens: number };
}

/** A gateway before an upstream that speaks the embeddings wire. */
export interface Embedder extends TestGateway {
  upstream: FakeUpstream;
  /** What the upstream answers. */
  step: Step;
  post(body: object, headers?: Record<string, string>): Promise<Answer>;
  /** An answer that must be good. */
  embeddings(body: object): Promise<Embeddings>;
  /** Nano-dollars charged so far, one for each call. */
  charged(): Promise<bigint[]>;
}

export function embeddingsJson(vectors: readonly unknown[], usage?: object): Step {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  const body = JSON.stringify({ object: 'list', data, model: 'e-1', ...(usage && { usage }) });
  return { headers: { 'content-type': 'application/json' }, body };
}

const MODEL = 'owner: acme, capabilities: [embedding], upstreams: [{ provider: up, model: e-1 }]';

export async function startEmbedder(credit = '10'): Promise<Embedder> {
  const embedder = { step: embeddingsJson([[1, 0.5]], { prompt_tokens: 3 }) } as Embedder;
  const upstream = await startUpstream((_, response) => play(embedder.step, response));
  const yaml = `owners: { acme: { name: Acme } }
providers:
  up: { uses: openai, base_url: '${upstream.url}', api_key: sk-up }
  simulator: {}
models:
  vectors: { ${MODEL}, price: { input_per_million: 2 }, limits: { context: 10 } }
  free: { ${MODEL}, price: free }
  open: { ${MODEL}, price: { input_per_million: 2 }, passthrough: [truncate] }
  small: { ${MODEL}, price: { input_per_million: 2 }, default: { dimensions: 4 } }
  sim: { owner: acme, capabilities: [embedding], upstreams: [{ provider: simulator }], price: { input_per_million: 2 } }
  talk: { owner: acme, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }
`;
  const gateway = await startGateway(yaml, { credit });
  const post: Embedder['post'] = (body, headers = {}) =>
    ask(gateway, '/v1/embeddings', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  return Object.assign(embedder, gateway, {
    upstream,
    post,
    embeddings: async (body: object) => {
      const { status, text } = await post(body);
      expect(status, text).to.equal(200);
      const answer = JSON.parse(text) as Embeddings;
      expectShape('embedding-response', answer);
      return answer;
    },
    charged: async () => {
      const rows = await gateway.gateway.store.ledger(gateway.account.id, { limit: 1_000 });
      const charges = rows.filter(({ kind }) => kind === 'charge');
      return charges.map(({ amount_nano }) => -amount_nano);
    },
    close: async () => {
      await gateway.close();
      await upstream.close();
    },
  });
}

/** Starts one for each test of a `describe`, and holds the books of the last to add up after it. */
export function eachEmbedder(take: (embedder: Embedder) => void, last: () => Embedder): void {
  beforeEach(async () => take(await startEmbedder()));
  afterEach(async () => {
    const { open_holds, faults } = await last().gateway.store.verify();
    expect([open_holds, faults]).to.deep.equal([0, []]);
    await last().close();
  });
}

/** Status, code and param of an answer that must be an error. */
export function refusal(answer: Answer): [number, string, string | null] {
  const { code, param } = errorOf(answer);
  return [answer.status, code, param];
}
