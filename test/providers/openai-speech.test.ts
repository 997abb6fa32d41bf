import { expect } from 'chai';
import { speech } from '../../providers/openai-speech.js';
import type { SpeechCall } from '../../src/modalities/speech/codec.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';

const CALL: SpeechCall = {
  input: 'Hello',
  voice: 'alloy',
  instructions: undefined,
  format: 'wav',
  speed: undefined,
  fields: { sample_rate: 8_000 },
};
const provider = providerAt('https://upstream.example.com');

describe('the speech wire', () => {
  it('says the call in the words of the upstream, and what was asked for alone', () => {
    const { body } = speech.encode(CALL, upstreamAt(provider, { model: 'tts-1' }));
    expect(body).to.deep.equal({
      sample_rate: 8_000,
      model: 'tts-1',
      input: 'Hello',
      voice: 'alloy',
      response_format: 'wav',
    });
  });

  it('drops, renames and sets fields, and keeps what the gateway decides', () => {
    const set = { voice: 'ash', input: 'x', response_format: 'mp3' };
    const more = { drop: ['instructions'], rename: { speed: 'rate' }, set };
    const call = { ...CALL, fields: {}, instructions: 'Whisper.', speed: 2 };
    const { body } = speech.encode(call, upstreamAt(provider, { model: 'tts-1', ...more }));
    expect(body).to.deep.equal({
      model: 'tts-1',
      input: 'Hello',
      voice: 'ash',
      rate: 2,
      response_format: 'wav',
    });
  });
});
