import { expect } from 'chai';
import { askSimulator } from '../../helpers/simulator.js';

const speak = (body: object, settings: object = {}) =>
  askSimulator('POST', '/audio/speech', { body: { input: 'Hello', ...body }, settings });

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
