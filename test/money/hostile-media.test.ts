import { expect } from 'chai';
import { ask, type Answer } from '../helpers/ask.js';
import { startPaidGateway, type PaidGateway } from '../helpers/paid-gateway.js';
import { pdfBomb, pdfOf } from '../helpers/pdf-files.js';
import { mp4Aac, oggOpus, silentFlac, webmOpus } from '../helpers/sound-files.js';
import type { Step } from '../helpers/upstream.js';

const CONTEXT = 20_000;
const EARS = `
  ears:
    owner: acme
    capabilities: [transcription]
    upstreams: [{ provider: up, model: whisper-1 }]
    limits: { audio_seconds: 1500 }
    price: { per_audio_minute: 0.06 }`;
const READS = `
  reads:
    owner: acme
    capabilities: [chat, audio, file]
    upstreams: [{ provider: up, model: gpt-audio }]
    limits: { max_tokens: 10, context: ${CONTEXT}, image_tokens: 1000 }
    price: { input_per_million: 100, output_per_million: 100 }`;

function json(body: object): Step {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

const MESSAGE = { role: 'assistant', content: 'Nothing.' };
const READ = json({
  choices: [{ index: 0, message: MESSAGE, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1_000, completion_tokens: 2 },
});
const HEARD = json({ text: 'Nothing.', duration: 60 });

/** Ogg whose pages, each with a table of 255 parts, lie over each other. */
function overlapping(pages: number): Buffer {
  const page = Buffer.alloc(31, 1);
  page.write('OggS');
  page.writeUInt32LE(7, 14);
  page.writeUInt8(255, 26);
  return Buffer.concat([oggOpus(0), ...Array<Buffer>(pages).fill(page)]);
}

/** Clusters that lie within each other. */
function clusters(count: number): Buffer {
  const cluster = Buffer.from('1f43b67581a3818100', 'hex');
  return Buffer.concat([webmOpus(0), ...Array<Buffer>(count).fill(cluster)]);
}

const MARKS = Buffer.concat([silentFlac(1), Buffer.from('fff8'.repeat(2_000_000), 'hex')]);
const BOXES = Buffer.from('\0\0\0\x08trak'.repeat(400_000), 'latin1');
const OBJECTS = Buffer.from(`%PDF-1.7\n${'/ObjStm stream\n'.repeat(70_000)}`);

describe('a file that is made to take long', () => {
  let paid: PaidGateway;
  before(async () => {
    paid = await startPaidGateway(EARS + READS, { settings: 'limits: { media: 1s }' });
  });
  after(() => paid.close());

  const upload = (file: Buffer) => {
    const data = new FormData();
    data.append('file', new Blob([new Uint8Array(file)]), 'a.bin');
    data.append('model', 'ears');
    return paid.post('/v1/audio/transcriptions', data);
  };
  const chat = (content: object[], at = paid) =>
    at.post('/v1/chat/completions', { model: 'reads', messages: [{ role: 'user', content }] });
  const soundPart = (file: Buffer) => ({
    type: 'input_audio',
    input_audio: { data: file.toString('base64'), format: 'wav' },
  });
  const pdfPart = (file: Buffer) => ({
    type: 'file',
    file: { file_data: `data:application/pdf;base64,${file.toString('base64')}` },
  });

  interface Seen {
    /** How many calls of `/healthz` were answered, one after another, while it was read. */
    answered: number;
    held_nano: bigint;
    charged_nano: bigint;
  }

  /** Sends a call that is to be admitted, and sees what is held for it and charged. */
  async function seen(call: () => Promise<Answer>, step: Step): Promise<Seen> {
    const { requests } = paid.upstream;
    const calls = requests.length;
    let answer = (): void => undefined;
    const hold = new Promise<void>((resolve) => (answer = resolve));
    paid.step = { ...step, hold };
    let isOver = false;
    const called = call().finally(() => (isOver = true));
    let answered = 0;
    for (; requests.length === calls && !isOver; answered += 1) await ask(paid, '/healthz');
    const account = await paid.gateway.store.account(paid.account.id);
    answer();
    const { status, text } = await called;
    expect([status, text.slice(0, 9)]).to.deep.equal([200, text.slice(0, 9)], text);
    const charged_nano = (await paid.charged()).at(-1) ?? 0n;
    return { answered, held_nano: account?.held_nano ?? 0n, charged_nano };
  }

  /** The most that the limits of its model allow, and what is beside it. */
  const MOST_READ = CONTEXT * 100_000;
  const MOST_HEARD = 1_500n * 1_000_000n;
  const BESIDE = 200 * 100_000;

  const UPLOADS: [string, Buffer][] = [
    ['Ogg with overlapping pages', overlapping(150_000)],
    ['WebM with clusters in each other', clusters(800_000)],
    ['FLAC with marks of frames alone', MARKS],
    ['MP4 with boxes alone', Buffer.concat([mp4Aac(1).subarray(0, 20), BOXES])],
  ];
  for (const [name, file] of UPLOADS) {
    it(`stops no other request, and is held for by its bytes: ${name}, uploaded`, async () => {
      const { answered, held_nano, charged_nano } = await seen(() => upload(file), HEARD);
      expect(answered).to.be.above(5);
      expect(held_nano).to.equal(MOST_HEARD);
      expect(charged_nano).to.equal(60_000_000n);
    });
  }

  const PARTS: [string, object[]][] = [
    ['a PDF with many marks of objects', [pdfPart(OBJECTS)]],
    ['a PDF that is inflated to gigabytes', [pdfPart(pdfBomb(50_000_000))]],
    [
      'WebM in a hundred parts',
      Array.from({ length: 100 }, (_, at) => soundPart(clusters(900 + at))),
    ],
  ];
  for (const [name, content] of PARTS) {
    it(`stops no other request, and is held for within the context: ${name}`, async () => {
      const { answered, held_nano, charged_nano } = await seen(() => chat(content), READ);
      expect(answered).to.be.above(5);
      expect(Number(held_nano)).to.be.within(MOST_READ, MOST_READ + BESIDE);
      expect(charged_nano).to.equal(1_002n * 100_000n);
    });
  }

  it('is not read where no upstream takes it: the refusal is the same, and nothing is sent', async () => {
    const claude = await startPaidGateway(READS, { uses: 'anthropic' });
    try {
      const { status, text } = await chat([soundPart(overlapping(150_000))], claude);
      expect([status, text]).to.deep.equal([400, text]);
      expect(text).to.include('does not take audio');
      expect(claude.upstream.requests).to.have.length(0);
    } finally {
      await claude.close();
    }
  });

  it('does not change what other files cost', async () => {
    const { held_nano } = await seen(() => chat([pdfPart(pdfOf(1))]), READ);
    expect(Number(held_nano)).to.be.within(4e8, 4.3e8);
  });
});
