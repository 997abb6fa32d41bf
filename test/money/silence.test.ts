import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { startPaidGateway, type PaidGateway } from '../helpers/paid-gateway.js';
import { mp4Aac, oggOpus, silentFlac, slowWav, webmOpus } from '../helpers/sound-files.js';
import type { Step } from '../helpers/upstream.js';

/** What each test begins with. */
const CREDIT_NANO = 10_000_000_000n;

const MODELS = `
  ears:
    owner: acme
    capabilities: [transcription]
    upstreams: [{ provider: up, model: whisper-1 }]
    price: { per_audio_minute: 1 }
  tokens:
    owner: acme
    capabilities: [transcription]
    upstreams: [{ provider: up, model: gpt-4o-transcribe }]
    price: { per_audio_minute: 1 }
  hears:
    owner: acme
    capabilities: [chat, audio]
    upstreams: [{ provider: up, model: gpt-audio }]
    limits: { max_tokens: 10 }
    price: { input_per_million: 1000, output_per_million: 1000 }
  reads:
    owner: acme
    capabilities: [chat, file]
    upstreams: [{ provider: google, model: gemini-3.5-flash }]
    limits: { max_tokens: 10 }
    price: { input_per_million: 1000, output_per_million: 1000 }`;

function json(body: object): Step {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** Files of some kilobytes that play for more than two minutes: no header says so. */
const FILES: [string, Buffer][] = [
  ['flac', silentFlac(17)],
  ['ogg', oggOpus(2_100)],
  ['webm', webmOpus(2_100)],
  ['m4a', mp4Aac(1_000)],
  ['wav', slowWav(128)],
];

describe('sound that is silent', () => {
  let paid: PaidGateway;
  before(async () => {
    // On a busy machine too, each file is read in its time.
    paid = await startPaidGateway(MODELS, { settings: 'limits: { media: 60s }' });
  });
  after(() => paid.close());
  beforeEach(async () => {
    const { id } = paid.account;
    const { store } = paid.gateway;
    const spent_nano = CREDIT_NANO - ((await store.account(id))?.balance_nano ?? 0n);
    if (spent_nano > 0n) await store.credit(id, spent_nano, randomUUID());
    paid.upstream.requests.length = 0;
  });

  const upload = (model: string, file: Buffer) => {
    const data = new FormData();
    data.append('file', new Blob([new Uint8Array(file)]), 'a.bin');
    data.append('model', model);
    return paid.post('/v1/audio/transcriptions', data);
  };
  /** The number of calls, of eight at once, that the upstream gets. */
  const admitted = async (call: () => Promise<{ status: number }>) => {
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => (await call()).status),
    );
    expect(statuses.filter((status) => status !== 200 && status !== 402)).to.deep.equal([]);
    return paid.upstream.requests.length;
  };
  const uncollected = async () => {
    const rows = await paid.gateway.store.ledger(paid.account.id, { limit: 100 });
    return rows.filter((row) => (row.uncollected_nano ?? 0n) > 0n).length;
  };

  for (const [name, file] of FILES) {
    it(`is held for by its length, not by its few bytes: ${name}, transcribed`, async () => {
      paid.step = json({ text: 'Nothing.', duration: 126 });
      expect(await admitted(() => upload('ears', file))).to.be.within(1, 4);
      expect(await uncollected()).to.equal(0);
    });

    it(`is held for by its length, not by its few bytes: ${name}, heard`, async () => {
      const message = { role: 'assistant', content: 'Nothing.' };
      paid.step = json({
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 32 * 126, completion_tokens: 2 },
      });
      const input_audio = { data: file.toString('base64'), format: 'wav' };
      const messages = [{ role: 'user', content: [{ type: 'input_audio', input_audio }] }];
      const call = () => paid.post('/v1/chat/completions', { model: 'hears', messages });
      expect(await admitted(call)).to.be.within(1, 2);
      expect(await uncollected()).to.equal(0);
    });
  }

  // More bytes could be as many tokens of text, for which a file is held anyway.
  for (const [name, file] of FILES.filter(([, { length }]) => length < 10_000)) {
    it(`is held for by its length, not by its few bytes: ${name}, as a file`, async () => {
      paid.step = json({
        candidates: [{ content: { parts: [{ text: 'Nothing.' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 32 * 126, candidatesTokenCount: 2 },
      });
      const inlineData = { mimeType: 'AUDIO/flac', data: file.toString('base64') };
      const contents = [{ parts: [{ inlineData }] }];
      const call = () => paid.post('/v1beta/models/reads:generateContent', { contents });
      expect(await admitted(call)).to.be.within(1, 2);
      expect(await uncollected()).to.equal(0);
    });
  }

  for (const [name, file] of FILES.filter(([kind]) => kind !== 'wav')) {
    it(`costs its length where the upstream does not tell it: ${name}`, async () => {
      paid.step = json({ text: 'Nothing.', usage: { input_tokens: 9, output_tokens: 2 } });
      await upload('tokens', file);
      const charge = (await paid.charged()).at(-1) ?? 0n;
      expect(Number(charge)).to.be.within(2.09e9, 2.2e9);
    });
  }
});
