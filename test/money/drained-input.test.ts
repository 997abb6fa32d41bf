import { expect } from 'chai';
import { wav } from '../../providers/simulator/sound.js';
import { ask } from '../helpers/ask.js';
import { startPaidGateway, type PaidGateway } from '../helpers/paid-gateway.js';
import { until } from '../helpers/until.js';
import { DRAIN, never } from './helpers/disconnecting.js';

const entry = (capability: string, price: string): string =>
  `{ owner: acme, capabilities: [${capability}], upstreams: [{ provider: up }], price: ${price} }`;
const MODELS = `
  vectors: ${entry('embedding', '{ input_per_million: 0.15 }')}
  verdict: ${entry('moderation', '{ input_per_million: 0.15 }')}
  voice: ${entry('speech', '{ per_million_characters: 15 }')}
  ears: ${entry('transcription', '{ per_audio_minute: 0.006 }')}
  pencil: ${entry('image', '{ per_image: 0.04 }')}
`;

/** Two and a half seconds. */
const AUDIO = new Blob([new Uint8Array(wav(Buffer.alloc(80_000)))]);

function audio(): FormData {
  const form = new FormData();
  form.append('model', 'ears');
  form.append('file', AUDIO, 'a.wav');
  return form;
}

const json = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const CALLS: [what: string, path: string, init: RequestInit, nano: bigint[]][] = [
  // One token.
  ['an embedding', '/v1/embeddings', json({ model: 'vectors', input: 'Hello' }), [150n]],
  ['a moderation', '/v1/moderations', json({ model: 'verdict', input: 'Hello' }), [150n]],
  [
    'speech',
    '/v1/audio/speech',
    json({ model: 'voice', input: 'Hello', voice: 'alloy' }),
    [75_000n],
  ],
  ['a transcription', '/v1/audio/transcriptions', { method: 'POST', body: audio() }, [250_000n]],
  // Nobody knows whether the upstream made it.
  ['an image', '/v1/images/generations', json({ model: 'pencil', prompt: 'A gate' }), []],
];

describe('an answer that an upstream bills on, after its client has left and limits.drain', () => {
  let paid: PaidGateway;
  beforeEach(async () => {
    paid = await startPaidGateway(MODELS, {
      step: { hold: never },
      provider: DRAIN,
      settings: 'limits: { drain: 50ms }',
    });
  });
  afterEach(() => paid.close());

  for (const [what, path, init, nano] of CALLS) {
    const price = nano.length > 0 ? 'its input' : 'nothing';
    it(`costs ${price}: ${what}`, async () => {
      const { store } = paid.gateway;
      const leaving = new AbortController();
      const gone = ask(paid, path, { ...init, signal: leaving.signal }).catch(() => undefined);
      await until(() => paid.upstream.requests.length === 1, 'the call reaches the upstream');
      leaving.abort();
      await gone;
      await until(async () => (await store.verify()).open_holds === 0, 'no hold is open');
      const rows = await store.ledger(paid.account.id, { limit: 10 });
      const charges = rows.filter(({ kind }) => kind === 'charge');
      expect(charges.map(({ amount_nano }) => -amount_nano)).to.deep.equal(nano);
      expect(charges.every(({ estimated }) => estimated)).to.equal(true);
      expect((await store.verify()).faults).to.deep.equal([]);
    });
  }
});
