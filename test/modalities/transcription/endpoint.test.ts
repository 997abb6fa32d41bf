import { expect } from 'chai';
import { wav } from '../../../providers/simulator/sound.js';
import { errorOf } from '../../helpers/ask.js';
import { startPaidGateway, type PaidGateway } from '../../helpers/paid-gateway.js';
import { expectShape } from '../../helpers/schemas.js';
import type { Step } from '../../helpers/upstream.js';

const MODEL = 'owner: acme, capabilities: [transcription], upstreams: [{ provider: up, model:';
const MODELS = `
  ears: { ${MODEL} whisper-1 }], price: { per_audio_minute: 0.006 }, limits: { audio_seconds: 60 } }
  tokens: { ${MODEL} gpt-4o-transcribe }], price: { audio_input_per_million: 6, input_per_million: 2.5, output_per_million: 10 } }
  plain: { ${MODEL} gpt-4o-transcribe }], price: { per_audio_minute: 0.006 } }
  free: { ${MODEL} whisper-1 }], price: free }
  talk: { owner: acme, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }
`;
const MINUTE_NANO = 6_000_000n;
/** Two and a half seconds, as its own figures say. */
const FILE = wav(Buffer.alloc(80_000));
/** Audio that does not say how long it plays. */
const OGG = Buffer.from(`OggS${'x'.repeat(7_996)}`);
const SEGMENTS = [
  { id: 0, start: 0, end: 1.5, text: ' The toll', avg_logprob: -0.1, speed: 9 },
  { id: 1, start: 1.5, end: 3_661.25, text: ' is paid.' },
];
const VERBOSE = { text: 'The toll is paid.', language: 'english', duration: 9.47 };

function json(body: object): Step {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function form(fields: Record<string, string | string[]>, file = FILE): FormData {
  const data = new FormData();
  data.append('file', new Blob([new Uint8Array(file)]), 'a.bin');
  for (const [name, value] of Object.entries(fields)) {
    for (const one of [value].flat()) data.append(name, one);
  }
  return data;
}

describe('POST /v1/audio/transcriptions', () => {
  let paid: PaidGateway;
  before(async () => {
    paid = await startPaidGateway(MODELS);
  });
  beforeEach(() => {
    paid.step = json({
      ...VERBOSE,
      segments: SEGMENTS,
      words: [{ word: 'The', start: 0, end: 1 }],
    });
    paid.upstream.requests.length = 0;
  });
  afterEach(async () => {
    const report = await paid.gateway.store.verify();
    expect([report.open_holds, report.faults]).to.deep.equal([0, []]);
  });
  after(() => paid.close());

  const post = (fields: Record<string, string | string[]>, file?: Buffer, headers = {}) =>
    paid.post('/v1/audio/transcriptions', form({ model: 'ears', ...fields }, file), headers);

  /** What a call adds to the ledger. */
  async function costOf(call: () => Promise<unknown>): Promise<bigint[]> {
    const before = (await paid.charged()).length;
    await call();
    return (await paid.charged()).slice(before);
  }
  /** The form that the upstream received. */
  async function sent(): Promise<FormData> {
    const [request] = paid.upstream.requests;
    const headers = { 'content-type': request?.headers['content-type'] ?? '' };
    return new Response(new Uint8Array(request?.bytes ?? []), { headers }).formData();
  }

  it('sends the file under a name of its kind, and asks for the length of the audio', async () => {
    await post({ language: 'en', prompt: 'Tollgate', temperature: '0.2', other: 'x' });
    expect(paid.upstream.requests[0]?.path).to.equal('/audio/transcriptions');
    const parts = await sent();
    const file = parts.get('file') as File;
    expect([file.name, file.type, file.size]).to.deep.equal(['audio.wav', 'audio/wav', 80_044]);
    parts.delete('file');
    expect(Object.fromEntries(parts)).to.deep.equal({
      language: 'en',
      prompt: 'Tollgate',
      temperature: '0.2',
      model: 'whisper-1',
      response_format: 'verbose_json',
    });
  });

  it('answers the text and what it is charged for', async () => {
    const { headers, text } = await post({ other: 'x' });
    const answer = JSON.parse(text) as object;
    expectShape('transcription#/$defs/answer', answer);
    expect(answer).to.deep.equal({
      text: VERBOSE.text,
      usage: { type: 'duration', seconds: 9.47 },
    });
    expect(headers.get('tollgate-ignored')).to.equal('other');
  });

  it('answers segments and words with verbose_json, of the fields that clients know', async () => {
    const asked = { response_format: 'verbose_json', 'timestamp_granularities[]': ['word'] };
    const answer = JSON.parse((await post(asked)).text) as Record<string, object[]>;
    expectShape('transcription#/$defs/answer', answer);
    expect(answer).to.include({ task: 'transcribe', language: 'english', duration: 9.47 });
    const [first, second] = SEGMENTS;
    const { speed: _, ...known } = first ?? {};
    expect(answer.segments).to.deep.equal([known, second]);
    expect(answer.words).to.deep.equal([{ word: 'The', start: 0, end: 1 }]);
    expect((await sent()).getAll('timestamp_granularities[]')).to.deep.equal(['word']);
  });

  it('answers the duration that was measured, not the one that is billed', async () => {
    paid.step = json({ ...VERBOSE, duration: 2.5, usage: { type: 'duration', seconds: 3 } });
    const costs = await costOf(async () => {
      const { text } = await post({ response_format: 'verbose_json' });
      expect(JSON.parse(text)).to.deep.include({
        duration: 2.5,
        usage: { type: 'duration', seconds: 3 },
      });
    });
    expect(costs).to.deep.equal([(3_000n * MINUTE_NANO) / 60_000n]);
  });

  for (const [format, type, text] of [
    ['text', 'text/plain', 'The toll is paid.\n'],
    [
      'srt',
      'application/x-subrip',
      '1\n00:00:00,000 --> 00:00:01,500\nThe toll\n\n2\n00:00:01,500 --> 01:01:01,250\nis paid.\n',
    ],
    [
      'vtt',
      'text/vtt',
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nThe toll\n\n00:00:01.500 --> 01:01:01.250\nis paid.\n',
    ],
  ] as const) {
    it(`answers ${format}, charged like any other`, async () => {
      const costs = await costOf(async () => {
        const answer = await post({ response_format: format });
        expect([answer.status, answer.text]).to.deep.equal([200, text]);
        expect(answer.headers.get('content-type')).to.equal(`${type}; charset=utf-8`);
      });
      expect(costs).to.deep.equal([(9_470n * MINUTE_NANO) / 60_000n]);
    });
  }

  for (const [what, answer, ms, file] of [
    ['what the upstream bills', { usage: { type: 'duration', seconds: 10 } }, 10_000n, FILE],
    ['what the upstream has measured', {}, 9_470n, FILE],
    ['the own figures of the file where that is nonsense', { duration: -1 }, 2_500n, FILE],
    ['the own figures where it is nothing', { duration: 0 }, 2_500n, FILE],
    ['the own figures where it is more than a day', { duration: 90_000 }, 2_500n, FILE],
    ['an estimate where there are none', { duration: null }, 2_000n, OGG],
  ] as const) {
    it(`charges by ${what}, to the nano-dollar`, async () => {
      paid.step = json({ ...VERBOSE, ...answer });
      const costs = await costOf(() => post({}, file));
      expect(costs).to.deep.equal([(ms * MINUTE_NANO) / 60_000n]);
      expect(await paid.counted()).to.include({ audio_seconds: Number(ms) / 1_000 });
    });
  }

  it('charges tokens where they have the price, sound at its own', async () => {
    const details = { audio_tokens: 90, text_tokens: 10 };
    const tokens = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
    const usage = { type: 'tokens', ...tokens, input_token_details: details };
    paid.step = json({ text: 'Hi.', usage });
    const costs = await costOf(async () => {
      const answer = await post({ model: 'tokens' });
      expect(JSON.parse(answer.text)).to.deep.equal({ text: 'Hi.', usage });
    });
    expect(costs).to.deep.equal([90n * 6_000n + 10n * 2_500n + 20n * 10_000n]);
    expect((await sent()).get('response_format')).to.equal('json');
  });

  it('estimates tokens where the upstream gives none', async () => {
    paid.step = json({ text: 'Hi.' });
    const [cost = 0n] = await costOf(() => post({ model: 'tokens' }));
    expect(cost >= 25n * 6_000n + 10_000n, String(cost)).to.equal(true);
  });

  it('charges nothing for a free model', async () => {
    expect(await costOf(() => post({ model: 'free' }))).to.deep.equal([]);
  });

  for (const [what, step] of [
    ['an upstream that fails', { status: 500, body: 'no' }],
    ['an answer without a text', json({ duration: 3 })],
    ['an answer that is cut', { ...json(VERBOSE), chunks: ['{"te', 'xt"'], destroyAfter: 1 }],
  ] as const) {
    it(`answers 502 for ${what}, and charges nothing`, async () => {
      paid.step = step;
      const costs = await costOf(async () => expect((await post({})).status).to.equal(502));
      expect(costs).to.deep.equal([]);
    });
  }

  it('holds by the own figures of a file, else by its bytes, and no more than the limit', async () => {
    const { store } = paid.gateway;
    const second = MINUTE_NANO / 60n;
    for (const [file, held] of [
      [FILE, (second * 5n) / 2n],
      [OGG, second * 8n],
      [Buffer.from(`OggS${'x'.repeat(100_000)}`), second * 60n],
    ] as const) {
      const poor = await store.createAccount(`has ${held}`, held - 1n);
      const { secret } = await store.createKey(poor.id, 'k');
      const headers = { authorization: `Bearer ${secret}` };
      expect((await post({}, file, headers)).status).to.equal(402);
      await store.credit(poor.id, 1n, 'gift');
      expect((await post({}, file, headers)).status).to.equal(200);
    }
    expect(paid.upstream.requests).to.have.length(3);
  });

  it('takes JSON with the file as a data: URL, and charges once under one key', async () => {
    const file = `data:audio/wav;base64,${FILE.toString('base64')}`;
    const body = { model: 'ears', file };
    const key = { 'idempotency-key': 'k-1' };
    const costs = await costOf(async () => {
      const first = await paid.post('/v1/audio/transcriptions', body, key);
      const again = await paid.post('/v1/audio/transcriptions', body, key);
      expect([first.status, again.text]).to.deep.equal([200, first.text]);
    });
    expect(costs).to.have.length(1);
  });

  it('translates where the manifest says how', async () => {
    const answer = await paid.post(
      '/v1/audio/translations',
      form({ model: 'ears', response_format: 'verbose_json' }),
    );
    expect(JSON.parse(answer.text)).to.include({ task: 'translate', text: VERBOSE.text });
    expect(paid.upstream.requests[0]?.path).to.equal('/audio/translations');
  });

  it('leaves a file that is only called audio to the upstream, within its hold', async () => {
    const data = form({ model: 'ears' });
    data.set('file', new Blob(['x']), 'a.wav');
    const answer = await paid.post('/v1/audio/transcriptions', data);
    expect(answer.status).to.equal(200);
    expect(paid.upstream.requests).to.have.length(1);
    data.set('file', new Blob([]), 'a.wav');
    expect((await paid.post('/v1/audio/transcriptions', data)).status).to.equal(400);
  });

  for (const [what, fields, code, param, file] of [
    ['no audio', {}, 'invalid_request', 'file', Buffer.from('hello')],
    ['too long a file', {}, 'invalid_request', 'file', wav(Buffer.alloc(61 * 32_000))],
    ['an unknown form', { response_format: 'xml' }, 'invalid_request', 'response_format', FILE],
    ['a stream', { stream: 'true' }, 'invalid_request', 'stream', FILE],
    ['too hot a temperature', { temperature: '2' }, 'invalid_request', 'temperature', FILE],
    ['a model of another kind', { model: 'talk' }, 'unsupported_capability', 'model', FILE],
    [
      'timestamps of a model without any',
      { model: 'plain', response_format: 'srt' },
      'invalid_request',
      'response_format',
      FILE,
    ],
  ] as const) {
    it(`refuses ${what}, naming the field`, async () => {
      const answer = await post(fields, file);
      const error = errorOf(answer);
      expect([answer.status, error.code, error.param]).to.deep.equal([400, code, param]);
      expect(paid.upstream.requests).to.have.length(0);
    });
  }
});
