import { expect } from 'chai';
import { answer } from '../../../providers/simulator.js';
import { wav } from '../../../providers/simulator/sound.js';
import { askSimulator } from '../../helpers/simulator.js';

const speak = (body: object, settings: object = {}) =>
  askSimulator('POST', '/audio/speech', { body: { input: 'Hello', ...body }, settings });

/** Sends a file to the simulator, and reads its JSON. */
async function listen(fields: Record<string, string>, file?: Buffer): Promise<Heard> {
  const form = new FormData();
  if (file) form.append('file', new Blob([new Uint8Array(file)]), 'a.wav');
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const packed = new Response(form);
  const headers = { 'content-type': packed.headers.get('content-type') ?? '' };
  const body = new Uint8Array(await packed.arrayBuffer());
  const path = '/audio/transcriptions';
  const request = { method: 'POST', path, headers, body } as const;
  const reply = await answer(request, {}, new AbortController().signal);
  const parts: Uint8Array[] = [];
  for await (const part of reply.body) parts.push(part);
  const json = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
  return { status: reply.status, json };
}

interface Heard {
  status: number;
  json: Record<string, unknown>;
}

describe('the simulator, listening', () => {
  const file = wav(Buffer.alloc(48_000));

  it('hears the same text in any file, and as many seconds as it plays', async () => {
    const { json } = await listen({ response_format: 'json' }, file);
    const usage = { type: 'duration', seconds: 2 };
    expect(json).to.deep.equal({ text: 'The toll is paid.', usage });
  });

  it('gives times that end with the file, and words where they are asked for', async () => {
    const fields = { response_format: 'verbose_json', 'timestamp_granularities[]': 'word' };
    const { json } = await listen(fields, file);
    expect(json).to.deep.include({ duration: 1.5, language: 'english' });
    const [segment] = json.segments as object[];
    expect(segment).to.include({ id: 0, seek: 0, start: 0, end: 1.5, text: json.text });
    expect(json.words).to.have.length(4);
  });

  it('refuses a form without a file', async () => {
    expect((await listen({ model: 'x' })).status).to.equal(400);
  });
});

describe('the simulator, speaking', () => {
  it('makes a WAV file whose sizes are right, the same for the same text', async () => {
    const { headers, bytes } = await speak({ response_format: 'wav' });
    expect(headers['content-type']).to.equal('audio/wav');
    expect(bytes.toString('latin1', 0, 4)).to.equal('RIFF');
    expect(bytes.readUInt32LE(4)).to.equal(bytes.length - 8);
    expect(bytes.readUInt32LE(40)).to.equal(bytes.length - 44);
    expect((bytes.length - 44) / bytes.readUInt32LE(28)).to.equal(0.25);
    const again = await speak({ response_format: 'wav' });
    expect(again.bytes.equals(bytes)).to.equal(true);
    const other = await speak({ response_format: 'wav', input: 'World' });
    expect(other.bytes.equals(bytes)).to.equal(false);
  });

  it('makes the same samples without a head', async () => {
    const wav = await speak({ response_format: 'wav' });
    const pcm = await speak({ response_format: 'pcm' });
    expect(pcm.bytes.equals(wav.bytes.subarray(44))).to.equal(true);
  });

  it('makes MP3 of whole frames where nothing else is asked for', async () => {
    const { headers, bytes } = await speak({});
    expect(headers['content-type']).to.equal('audio/mpeg');
    expect(bytes.length % 36).to.equal(0);
    for (let at = 0; at < bytes.length; at += 36) expect(bytes.readUInt16BE(at)).to.equal(0xfff3);
  });

  it('refuses no text, and formats that it cannot make', async () => {
    expect((await speak({ input: '' })).status).to.equal(400);
    expect((await speak({ response_format: 'opus' })).status).to.equal(400);
  });

  it('breaks off in a drill', async () => {
    const error: unknown = await speak({}, { fail: 'cut' }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error);
  });
});
