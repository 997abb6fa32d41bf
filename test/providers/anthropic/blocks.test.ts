import { expect } from 'chai';
import type { ContentPart } from '../../../src/schema-types/chat-completion.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { bodyOf, ignoredOf, thrownBy } from '../../helpers/claude.js';

const blocks = (...content: ContentPart[]): unknown =>
  bodyOf({ messages: [{ role: 'user', content }] }).messages[0]?.content;
const image = (url: string, detail?: string): ContentPart => ({
  type: 'image_url',
  image_url: { url, ...(detail && { detail }) },
});
const file = (file_data: string, filename?: string): ContentPart => ({
  type: 'file',
  file: { file_data, ...(filename && { filename }) },
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('a prompt with images and files for Claude', () => {
  it('sends an image as bytes or by its https URL', () => {
    expect(
      blocks(image('data:image/png;base64,AAAA'), image('https://x.test/a.png')),
    ).to.deep.equal([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } },
    ]);
  });

  it('names the detail of an image as ignored, unless it is left to the upstream', () => {
    const said = (detail: string): readonly string[] =>
      ignoredOf({ messages: [{ role: 'user', content: [image('https://x.test/a', detail)] }] });
    expect(said('high')).to.deep.equal(['messages[].content[].image_url.detail']);
    expect(said('auto')).to.deep.equal([]);
  });

  it('sends PDF and text as documents with their names', () => {
    expect(
      blocks(
        file('data:application/pdf;base64,JVBE', 'a.pdf'),
        file(`data:text/csv;charset=utf-8;base64,${base64('ä,b')}`),
        file('https://x.test/b.pdf'),
      ),
    ).to.deep.equal([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
        title: 'a.pdf',
      },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ä,b' } },
      { type: 'document', source: { type: 'url', url: 'https://x.test/b.pdf' } },
    ]);
  });

  it('takes images in the results of tools', () => {
    const { messages } = bodyOf({
      messages: [
        { role: 'user', content: 'Show me.' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'see', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: [image('data:image/gif;base64,AA==')] },
      ],
    });
    expect(messages[2]?.content).to.deep.equal([
      {
        type: 'tool_result',
        tool_use_id: 'c',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: 'AA==' } },
        ],
      },
    ]);
  });

  const refused: [string, ContentPart][] = [
    ['sound', { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }],
    ['an image of another type', image('data:image/bmp;base64,AA==')],
    ['an image by an http URL', image('http://x.test/a.png')],
    ['a file of another type', file('data:application/zip;base64,AA==')],
    ['a file by an ID of the upstream', { type: 'file', file: { file_id: 'file_1' } }],
    ['a file that is no data URL', file('JVBERi0x')],
  ];
  for (const [what, part] of refused) {
    it(`leaves ${what} to another upstream, and names the part`, () => {
      const thrown = thrownBy(() => blocks({ type: 'text', text: 'x' }, part));
      expect(thrown).to.be.instanceOf(UpstreamError);
      expect(thrown).to.include({ fault: 'unsupported', param: 'messages[0].content[1]' });
    });
  }

  it('leaves an image of the assistant to another upstream, since Claude takes none there', () => {
    const content = [image('data:image/png;base64,AAAA')];
    const thrown = thrownBy(() => bodyOf({ messages: [{ role: 'assistant', content }] }));
    expect(thrown).to.include({ fault: 'unsupported', param: 'messages[0].content' });
  });
});
