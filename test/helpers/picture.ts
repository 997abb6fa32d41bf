/** The first bytes of a PNG of that size, which is all that tells its size. */
export function pngHead(width: number, height: number): Buffer {
  const head = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000', 'hex');
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return Buffer.concat([head, Buffer.from('0806000000', 'hex')]);
}
