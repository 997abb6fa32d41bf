import { expect } from 'chai';
import { wav } from '../../providers/simulator/sound.js';
import { isMediaUrl } from '../../src/lib/media-url.js';
import { PNG } from '../helpers/text-gateway.js';

const url = (type: string, bytes: Buffer | string): string =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;

describe('a data: URL of a file', () => {
  for (const [title, text] of [
    ['an image', PNG],
    ['sound', url('audio/wav', wav(Buffer.alloc(80)))],
    ['sound with a parameter', url('audio/wav;rate=8000', wav(Buffer.alloc(80)))],
    ['a document', url('application/pdf', '%PDF-1.7\n')],
    ['a video', url('video/mp4', '\0\0\0\x18ftypmp42')],
  ] as const) {
    it(`is ${title}`, () => expect(isMediaUrl(text)).to.equal(true));
  }

  for (const [title, text] of [
    ['text', url('text/plain', 'call 0151 23456789')],
    ['text that is called an image', url('image/png', 'call 0151 23456789')],
    ['words in place of a type', PNG.replace('image/png', 'call 0151 23456789')],
    ['words in place of base64', 'data:image/png;base64,call-me'],
    ['words behind base64', `${PNG} call me`],
    ['nothing', 'data:image/png;base64,'],
    ['no URL', 'call me'],
  ] as const) {
    it(`is not ${title}`, () => expect(isMediaUrl(text)).to.equal(false));
  }
});
