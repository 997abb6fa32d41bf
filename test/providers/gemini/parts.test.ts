import { expect } from 'chai';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import type { ContentPart } from '../../../src/schema-types/chat-completion.js';
import { encoded } from '../../helpers/gemini.js';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const said = (part: ContentPart) => {
  const { body, ignored } = encoded({ messages: [{ role: 'user', content: [part] }] });
  return { part: body.contents[0]?.parts[0], ignored };
};

describe('a prompt with media for Gemini', () => {
  const image = (url: string, detail?: string): ContentPart => ({
    type: 'image_url',
    image_url: { url, ...(detail !== undefined && { detail }) },
  });

  it('has images as bytes', () => {
    const { part } = said(image(`data:image/jpeg;base64,${PNG}`));
    expect(part).to.deep.equal({ inlineData: { mimeType: 'image/jpeg', data: PNG } });
  });

  it('knows an image by its bytes where its URL names no type', () => {
    const { part } = said(image(`data:;base64,${PNG}`));
    expect(part).to.deep.equal({ inlineData: { mimeType: 'image/png', data: PNG } });
  });

  it('never sends the URL of an image, which the upstream does not follow (quirk 22)', () => {
    const param = 'messages[0].content[0].image_url.url';
    expect(() => said(image('https://example.com/cat.png')))
      .to.throw(UpstreamError)
      .that.includes({ fault: 'unsupported', param });
  });

  it('names the detail of an image as left out', () => {
    const url = `data:image/png;base64,${PNG}`;
    expect(said(image(url, 'high')).ignored).to.include('messages[].content[].image_url.detail');
    expect(said(image(url, 'auto')).ignored).to.deep.equal([]);
  });

  it('has sound as bytes of its type', () => {
    const input_audio = { data: 'SUQz', format: 'mp3' };
    const { part } = said({ type: 'input_audio', input_audio });
    expect(part).to.deep.equal({ inlineData: { mimeType: 'audio/mp3', data: 'SUQz' } });
  });

  it('refuses sound of a format that the upstream does not know', () => {
    const input_audio = { data: 'AAAA', format: 'pcm16' };
    expect(() => said({ type: 'input_audio', input_audio }))
      .to.throw(UpstreamError, 'wav, mp3')
      .that.includes({ param: 'messages[0].content[0].input_audio.format' });
  });

  const file = (fields: object): ContentPart => ({ type: 'file', file: fields });

  it('has a PDF as bytes, with its type or without', () => {
    const inlineData = { mimeType: 'application/pdf', data: 'JVBERi0=' };
    const url = 'data:application/pdf;base64,JVBERi0=';
    expect(said(file({ file_data: url })).part).to.deep.equal({ inlineData });
    const bare = { filename: 'a.pdf', file_data: 'JVBERi0=' };
    expect(said(file(bare)).part).to.deep.equal({ inlineData });
  });

  for (const file_data of ['gs://bucket/secret.pdf', 'https://example.com/a.pdf']) {
    it(`refuses the file ${file_data}, which would be read with the operator's rights`, () => {
      expect(() => said(file({ file_data })))
        .to.throw(UpstreamError)
        .that.includes({ param: 'messages[0].content[0].file.file_data' });
    });
  }

  it("refuses a file by its ID in the operator's storage", () => {
    expect(() => said(file({ file_id: 'files/abc' })))
      .to.throw(UpstreamError)
      .that.includes({ param: 'messages[0].content[0].file.file_id' });
  });
});
