import { expect } from 'chai';
import { MediaReader, type MediaFile, type MediaTerms } from '../../src/lib/media-reader.js';
import { pdfBomb, pdfOf, pdfOfOne } from '../helpers/pdf-files.js';
import {
  FLAC_BLOCK,
  mp4Aac,
  oggOpus,
  OPUS_SECONDS,
  silentFlac,
  webmOpus,
} from '../helpers/sound-files.js';

const MB = 1024 ** 2;
const TERMS = { limit_ms: 5_000, max_bytes: 320 * MB };

describe('MediaReader', () => {
  let reader: MediaReader;
  before(() => (reader = new MediaReader()));
  after(() => reader.close());

  const read = (files: MediaFile[], terms: Partial<MediaTerms> = {}) =>
    reader.read(files, { account_id: 'acme', ...TERMS, ...terms });
  const sound = (data: Buffer): MediaFile => ({ kind: 'sound', data });
  const pdf = (data: Buffer): MediaFile => ({ kind: 'pdf', data: data.toString('base64') });

  it('counts the packets of sound, whatever length its header claims', async () => {
    const files = [
      silentFlac(301),
      oggOpus(250),
      webmOpus(250),
      mp4Aac(250),
      oggOpus(3, Buffer.from([0x18, ...Array<number>(699).fill(0)])),
    ];
    const seconds = await read(files.map(sound));
    const wanted = [(300 * FLAC_BLOCK) / 8_000, 250 * OPUS_SECONDS, 250 * OPUS_SECONDS, 32, 0.18];
    for (const [at, one] of wanted.entries()) expect(seconds[at]).to.be.closeTo(one, 0.001);
  });

  it('does not say how long sound plays of which most is not read', async () => {
    const cut = (file: Buffer) => file.subarray(0, 60);
    const files = [mp4Aac(2_000, 1), ...[oggOpus(9), mp4Aac(9)].map(cut)];
    expect(await read(files.map(sound))).to.deep.equal(files.map(() => undefined));
  });

  it('finds no sound in other files, unless some program could find a file within them', async () => {
    const junk = Buffer.from(`OggS${'x'.repeat(5_000)}`);
    const files = [junk, Buffer.from('OggS'), Buffer.concat([junk, oggOpus(100)])];
    const seconds = await read(files.map(sound));
    expect(seconds.slice(0, 2)).to.deep.equal([0, 0]);
    expect(seconds[2] ?? 6).to.be.closeTo(6, 0.001);
  });

  it('counts the pages of a PDF as they are shown, or claimed if those are more', async () => {
    const files = [pdfOf(3), pdfOf(150, 1), pdfOf(1, 9), pdfOfOne(12)];
    expect(await read(files.map(pdf))).to.deep.equal([3, 150, 9, 12]);
    expect(await read([pdf(Buffer.from('%PDF-1.7\n')), pdf(pdfOf(0))])).to.deep.equal([
      undefined,
      undefined,
    ]);
  });

  it('reads on after a file that takes too much time, or too much memory', async () => {
    const slow = read([pdf(pdfOf(2)), pdf(pdfBomb(20_000_000)), pdf(pdfOf(4))], { limit_ms: 500 });
    expect(await slow).to.deep.equal([2, undefined, undefined]);
    const large = read([pdf(pdfBomb(200_000_000))], { limit_ms: 30_000 });
    expect(await large).to.deep.equal([undefined]);
    expect(await read([pdf(pdfOf(5))])).to.deep.equal([5]);
  });

  it('lets one account wait for its own files, not for those of another', async () => {
    const accounts = ['evil', 'other'];
    // Both processes run.
    await Promise.all(accounts.map((account_id) => read([pdf(pdfOf(1))], { account_id })));
    const order: string[] = [];
    const hostile = (name: string) =>
      read([pdf(pdfBomb(20_000_000 + order.length))], { account_id: 'evil', limit_ms: 500 }).then(
        () => order.push(name),
      );
    const evil = ['first', 'second', 'third'].map(hostile);
    const other = read([pdf(pdfOf(1))], { account_id: 'other' }).then(() => order.push('other'));
    await Promise.all([...evil, other]);
    expect(order.indexOf('other')).to.be.lessThan(order.indexOf('second'));
  });

  it('answers what waits when it is closed, and reads nothing afterwards', async () => {
    const closed = new MediaReader();
    const terms = { account_id: 'acme', ...TERMS };
    const running = [1, 2, 3].map((pages) => closed.read([pdf(pdfOf(pages))], terms));
    closed.close();
    expect(await Promise.all(running)).to.deep.equal([[undefined], [undefined], [undefined]]);
    expect(await closed.read([pdf(pdfOf(1))], terms)).to.deep.equal([undefined]);
  });
});
