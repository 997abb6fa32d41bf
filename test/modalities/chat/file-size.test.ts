import { expect } from 'chai';
import { readFileSize, UNKNOWN_PAGES } from '../../../src/modalities/chat/file-size.js';

const PDF = '%PDF-1.7\n<< /Type /Page >>\n';
const url = (type: string, bytes: string): string =>
  `data:${type};base64,${Buffer.from(bytes, 'latin1').toString('base64')}`;
const sizeOf = (data?: string) => readFileSize(data);
const base64 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('base64');

describe('the size of a file in a prompt', () => {
  it('is the pages of a PDF, whatever its media type says', () => {
    for (const type of ['application/pdf', 'Application/PDF', 'text/plain']) {
      expect(sizeOf(url(type, PDF)), type).to.deep.equal({ pdf: base64(PDF) });
    }
    const late = `junk\n${PDF}`;
    expect(sizeOf(url('text/plain', late))).to.deep.equal({ pdf: base64(late) });
  });

  it('is the most pages for an archive, an address and an ID', () => {
    const most = { pages: UNKNOWN_PAGES };
    expect(sizeOf(url('application/zip', 'PK\x03\x04'))).to.deep.equal(most);
    expect(sizeOf(url('application/vnd.ms-excel', '\xd0\xcf\x11\xe0'))).to.deep.equal(most);
    expect(sizeOf(url('text/plain', '\x1f\x8b\x08'))).to.deep.equal(most);
    expect(sizeOf('https://example.com/a.pdf')).to.deep.equal(most);
    expect(sizeOf()).to.deep.equal(most);
  });

  it('is the most pages for a video, in which one picture may stand still for hours', () => {
    const most = { pages: UNKNOWN_PAGES };
    expect(sizeOf(url('video/mp4', 'x'))).to.deep.equal(most);
    expect(sizeOf(url('Video/X-FLV', 'x'))).to.deep.equal(most);
    expect(sizeOf(url('text/plain', '\0\0\0\x18ftypisom'))).to.deep.equal(most);
    expect(sizeOf(url('', '\x1aE\xdf\xa3'))).to.deep.equal(most);
    expect(sizeOf(url('audio/mp4', '\0\0\0\x18ftypM4A '))).to.have.property('text');
  });

  it('is the bytes of any other file', () => {
    const text = base64('name,age');
    expect(sizeOf(url('text/csv', 'name,age'))).to.deep.equal({ text });
    expect(sizeOf(url('text/csv;charset=utf-8', 'name,age'))).to.deep.equal({ text });
  });
});
