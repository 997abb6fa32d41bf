import { expect } from 'chai';
import { ask, type Answer } from '../helpers/ask.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { until } from '../helpers/until.js';
import { onEachStore } from '../store/helpers/ground.js';

const SELL = 'owner: acme, upstreams: [{ provider: simulator }]';
/** A tenth of a cent for each call, and half the price by night. */
const termsOf = (hours: string): string =>
  `per_request: 0.001, off_peak: { from: "22:00", to: "06:00", ${hours} }`;
const MODELS = `
  vectors: { ${SELL}, capabilities: [embedding],
    price: { input_per_million: 4, ${termsOf('input_per_million: 2')} } }
  verdicts: { ${SELL}, capabilities: [moderation],
    price: { input_per_million: 0, ${termsOf('input_per_million: 0')} } }
  painter: { ${SELL}, capabilities: [image],
    price: { per_image: 0.04, ${termsOf('per_image: 0.02')} } }
  voice: { ${SELL}, capabilities: [speech],
    price: { per_million_characters: 16, ${termsOf('per_million_characters: 8')} } }
  ears: { ${SELL}, capabilities: [transcription],
    price: { per_audio_minute: 0.006, ${termsOf('per_audio_minute: 0.003')} } }
  film: { ${SELL}, capabilities: [video],
    price: { per_video_second: 0.40, ${termsOf('per_video_second: 0.20')} } }
`;
const FEE_NANO = 1_000_000n;
const DAY = '2026-07-01T12:00:00Z';
const NIGHT = '2026-07-01T23:00:00Z';
/** A second of silence. */
const WAV = Buffer.concat([
  Buffer.from('RIFF'),
  Buffer.from([0xa4, 0x3e, 0, 0]),
  Buffer.from('WAVEfmt '),
  Buffer.from([16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x80, 0x3e, 0, 0, 2, 0, 16, 0]),
  Buffer.from('data'),
  Buffer.from([0x80, 0x3e, 0, 0]),
  Buffer.alloc(16_000),
]);
const FILE = `data:audio/wav;base64,${WAV.toString('base64')}`;

/** A call of each kind of work, and what it costs by day without its fee. */
const CALLS: Record<string, { path: string; body: object; cost_nano: bigint }> = {
  vectors: { path: '/v1/embeddings', body: { input: [[1, 2]] }, cost_nano: 2n * 4_000n },
  verdicts: { path: '/v1/moderations', body: { input: 'toll' }, cost_nano: 0n },
  painter: {
    path: '/v1/images/generations',
    body: { prompt: 'dawn', n: 2 },
    cost_nano: 80_000_000n,
  },
  voice: {
    path: '/v1/audio/speech',
    body: { input: 'Hello', voice: 'alloy' },
    cost_nano: 5n * 16_000n,
  },
  ears: { path: '/v1/audio/transcriptions', body: { file: FILE }, cost_nano: 100_000n },
};

onEachStore('fees and hours of work other than chat', (ground) => {
  let gateway: TestGateway;

  async function open(time: string): Promise<void> {
    ground.now_ms = Date.parse(time);
    gateway = await startGateway(
      `owners: { acme: { name: Acme } }
providers: { simulator: { discount: 50%, settings: { video_takes: 0s } } }
models:${MODELS}`,
      { store: ground.place.url, credit: '100', now: () => ground.now_ms },
    );
  }

  afterEach(async () => {
    expect((await gateway.gateway.store.verify()).faults).to.deep.equal([]);
    await gateway.close();
  });

  async function post(path: string, body: object): Promise<Answer> {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await ask(gateway, path, init);
    expect(answer.status, answer.text).to.be.oneOf([200, 202]);
    return answer;
  }

  /** What the account has paid for each call, and what the upstream took. */
  async function charges(): Promise<unknown[]> {
    const rows = await gateway.gateway.store.ledger(gateway.account.id, { limit: 10 });
    return rows
      .filter(({ kind }) => kind === 'charge')
      .map(({ amount_nano, cost_nano }) => [-amount_nano, cost_nano]);
  }

  for (const [time, part] of [
    [DAY, 1n],
    [NIGHT, 2n],
  ] as const) {
    it(`are charged, and taken by upstreams, for calls that begin at ${time}`, async () => {
      await open(time);
      for (const [model, { path, body }] of Object.entries(CALLS)) {
        await post(path, { model, ...body });
      }
      const dues = Object.values(CALLS).map(({ cost_nano }) => cost_nano / part + FEE_NANO);
      expect(await charges()).to.deep.equal(dues.map((nano) => [nano, nano / 2n]));
    });
  }

  const VIDEO = { prompt: 'dawn', parameters: { duration_seconds: 4, sample_count: 4 } };

  for (const [created, fetched, rate_nano] of [
    [DAY, NIGHT, 400_000_000n],
    [NIGHT, '2026-07-02T07:00:00Z', 200_000_000n],
  ] as const) {
    it(`of a video are those of ${created}, though it is fetched at ${fetched}`, async () => {
      await open(created);
      const { text } = await post('/v1/queue/film', VIDEO);
      const { request_id } = JSON.parse(text) as { request_id: string };
      const { store } = gateway.gateway;
      const held_nano = (await store.tasks.task(request_id))?.hold_nano;
      expect(held_nano).to.equal(16n * 400_000_000n + FEE_NANO);
      ground.now_ms = Date.parse(fetched);
      const at = `/v1/queue/film/requests/${request_id}`;
      await until(async () => {
        return (await ask(gateway, `${at}/status`)).text.includes('COMPLETED');
      }, 'the video');
      for (let times = 0; times < 2; times += 1)
        expect((await ask(gateway, at)).status).to.equal(200);
      const due_nano = 16n * rate_nano + FEE_NANO;
      expect(await charges()).to.deep.equal([[due_nano, due_nano / 2n]]);
    });
  }
});
