import { expect } from 'chai';
import { pictureSize } from '../../src/lib/picture-size.js';
import { pngHead } from '../helpers/picture.js';

const GIF = Buffer.from('474946383961400120010000003b', 'hex');
const JPEG_START = Buffer.from([0xff, 0xd8]);

function jpegSegment(mark: number, body: Buffer): Buffer {
  const head = Buffer.from([0xff, mark, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([head, body]);
}

/** A JPEG whose frame stands behind so many segments of metadata. */
function jpeg(width: number, height: number, segments: number): Buffer {
  const metadata = jpegSegment(0xe2, Buffer.alloc(65_000, 1));
  const frame = Buffer.from([8, 0, 0, 0, 0, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
  frame.writeUInt16BE(height, 1);
  frame.writeUInt16BE(width, 3);
  const before = Array.from({ length: segments }, () => metadata);
  return Buffer.concat([JPEG_START, ...before, jpegSegment(0xc0, frame)]);
}

describe('the size of a picture', () => {
  for (const [what, bytes, size] of [
    ['a PNG', pngHead(1_568, 28), { width: 1_568, height: 28 }],
    ['a GIF', GIF, { width: 320, height: 288 }],
    ['a JPEG', jpeg(640, 480, 1), { width: 640, height: 480 }],
    ['a JPEG behind metadata', jpeg(640, 480, 3), { width: 640, height: 480 }],
    ['a JPEG with more metadata than is read', jpeg(640, 480, 6), undefined],
    ['a PNG without an area', pngHead(0, 5), undefined],
    ['a PNG that was cut', pngHead(9, 9).subarray(0, 20), undefined],
    [
      'an SVG',
      Buffer.from('<svg width="9" height="9" xmlns="http://www.w3.org/2000/svg"/>'),
      undefined,
    ],
    ['nothing', Buffer.alloc(0), undefined],
  ] as const) {
    it(`is read of ${what}`, () => {
      expect(pictureSize(bytes.toString('base64'))).to.deep.equal(size);
    });
  }
});
