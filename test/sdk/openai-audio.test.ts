import { expect } from 'chai';
import OpenAI, { toFile } from 'openai';
import { wav } from '../../providers/simulator/sound.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';

const SIMULATED = 'owner: acme, upstreams: [{ provider: simulator }]';

describe('the openai package, with sound', () => {
  let gateway: TestGateway;
  let client: OpenAI;

  before(async () => {
    gateway = await startGateway(
      `owners: { acme: { name: Acme } }
providers: { simulator: {} }
models:
  voice: { ${SIMULATED}, capabilities: [speech], price: { per_million_characters: 15 } }
  ears: { ${SIMULATED}, capabilities: [transcription], price: { per_audio_minute: 0.006 } }
`,
      { credit: '1' },
    );
    const { url, secret } = gateway;
    client = new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 });
  });
  after(() => gateway.close());

  it('gets speech as bytes', async () => {
    const answer = await client.audio.speech.create({
      model: 'voice',
      voice: 'alloy',
      input: 'The toll is paid.',
      response_format: 'wav',
    });
    expect(answer.headers.get('content-type')).to.equal('audio/wav');
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.readUInt32LE(4)).to.equal(bytes.length - 8);
  });

  it('gets transcripts in every form', async () => {
    const speech = { model: 'voice', voice: 'alloy', input: 'The toll is paid.' };
    const spoken = await client.audio.speech.create(speech);
    const file = await toFile(Buffer.from(await spoken.arrayBuffer()), 'speech.mp3');
    const ask = { file, model: 'ears' };
    const { text } = await client.audio.transcriptions.create(ask);
    expect(text).to.equal('The toll is paid.');
    const verbose = await client.audio.transcriptions.create({
      ...ask,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    expect(verbose.words?.map(({ word }) => word).join(' ')).to.equal(text);
    // Of 17 notes of a twentieth of a second each, whole frames.
    expect(verbose.usage?.seconds).to.equal(1);
    const srt = await client.audio.transcriptions.create({ ...ask, response_format: 'srt' });
    expect(srt).to.match(/^1\n00:00:00,000 --> 00:00:00,\d{3}\nThe toll is paid\.\n$/u);
    const plain = await client.audio.transcriptions.create({ ...ask, response_format: 'text' });
    expect(plain).to.equal('The toll is paid.\n');
  });

  it('gets translations', async () => {
    const file = await toFile(wav(Buffer.alloc(32_000)), 'speech.wav');
    const { text } = await client.audio.translations.create({ file, model: 'ears' });
    expect(text).to.equal('The toll is paid.');
  });

  it('throws its own error where the speech that it wants cannot be made', async () => {
    const error: unknown = await client.audio.speech
      .create({ model: 'voice', voice: 'alloy', input: 'x', response_format: 'opus' })
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(OpenAI.BadRequestError);
  });
});
