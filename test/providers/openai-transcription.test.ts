import { expect } from 'chai';
import { transcription } from '../../providers/openai-transcription.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import type { TranscriptionCall } from '../../src/modalities/transcription/codec.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';

const CALL: TranscriptionCall = {
  task: 'transcribe',
  audio: Buffer.from('sound'),
  kind: { type: 'audio/flac', extension: 'flac' },
  seconds: undefined,
  format: 'json',
  granularities: ['word'],
  fields: { language: 'en', temperature: 0 },
};
const wire = { verbose_transcripts: ['whisper'] };
const provider = providerAt('https://upstream.example.com', { wire });
const whisper = upstreamAt(provider, { model: 'whisper-1' });

function partsOf(call: TranscriptionCall, upstream = whisper): [string, unknown][] {
  const { form = [] } = transcription.encode(call, upstream);
  return form.map((part) => [part.name, 'value' in part ? part.value : part.filename]);
}

describe('the transcription wire', () => {
  it('says the call in the words of the upstream, with the file at the end', () => {
    expect(partsOf(CALL)).to.deep.equal([
      ['language', 'en'],
      ['temperature', '0'],
      ['model', 'whisper-1'],
      ['response_format', 'verbose_json'],
      ['file', 'audio.flac'],
    ]);
  });

  it('asks for the timestamps that a client can see', () => {
    const parts = partsOf({ ...CALL, format: 'verbose_json' });
    expect(parts).to.deep.include(['timestamp_granularities[]', 'word']);
  });

  it('asks models that give no timestamps for the text, and has no other forms of theirs', () => {
    const newer = upstreamAt(provider, { model: 'gpt-4o-transcribe' });
    expect(partsOf(CALL, newer)).to.deep.include(['response_format', 'json']);
    for (const format of ['verbose_json', 'srt', 'vtt'] as const) {
      expect(() => transcription.encode({ ...CALL, format }, newer))
        .to.throw(UpstreamError)
        .that.includes({ fault: 'unsupported', param: 'response_format' });
    }
  });

  it('drops, renames and sets fields, and keeps what the gateway decides', () => {
    const set = { response_format: 'text', file: 'x', hotwords: ['a', 'b'] };
    const more = { drop: ['temperature'], rename: { language: 'lang' }, set };
    expect(partsOf(CALL, upstreamAt(provider, { model: 'whisper-1', ...more }))).to.deep.equal([
      ['lang', 'en'],
      ['hotwords', 'a'],
      ['hotwords', 'b'],
      ['model', 'whisper-1'],
      ['response_format', 'verbose_json'],
      ['file', 'audio.flac'],
    ]);
  });

  it('reads the length that is billed before the one that was measured', () => {
    const usage = { type: 'duration', seconds: 10 };
    const both = transcription.decode({ text: '', duration: 9.5, usage }, CALL, whisper);
    expect([both.seconds, both.usage]).to.deep.equal([10, undefined]);
    const one = transcription.decode({ text: '', duration: 9.5 }, CALL, whisper);
    expect(one.seconds).to.equal(9.5);
  });

  it('leaves out segments and words that are none', () => {
    const said = { text: 'a', segments: [{ start: 'x' }, 1], words: [{ start: 1 }], language: 3 };
    const reply = transcription.decode(said, CALL, whisper);
    expect(reply).to.deep.equal({
      text: 'a',
      segments: [],
      words: [],
      seconds: undefined,
      usage: undefined,
    });
  });

  for (const body of [{}, { text: 3 }, [], 'text', { error: { message: 'no' } }]) {
    it(`takes ${JSON.stringify(body)} for no transcript`, () => {
      expect(() => transcription.decode(body, CALL, whisper)).to.throw(UpstreamError);
    });
  }
});
