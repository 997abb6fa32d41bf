import { crc32 } from 'node:zlib';

/** A header of a frame: text, a flag, a 32 bit number, a time, bytes, or the 16 bytes of a UUID. */
export type FrameHeader = string | boolean | number | Date | Buffer | { uuid: Buffer };

function headerBytes(name: string, value: FrameHeader): Buffer {
  const head = (type: number, ...rest: Buffer[]): Buffer =>
    Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.of(type), ...rest]);
  if (typeof value === 'boolean') return head(value ? 0 : 1);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return head(4, bytes);
  }
  if (value instanceof Date) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(BigInt(value.getTime()));
    return head(8, bytes);
  }
  if (typeof value === 'object' && 'uuid' in value) return head(9, value.uuid);
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return head(typeof value === 'string' ? 7 : 6, length, bytes);
}

/** A frame of `application/vnd.amazon.eventstream`, put together by hand. */
export function frame(headers: Record<string, FrameHeader>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, one]) => headerBytes(name, one)));
  const body = Buffer.from(payload);
  const bytes = Buffer.alloc(16 + head.length + body.length);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE(head.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  head.copy(bytes, 12);
  body.copy(bytes, 12 + head.length);
  return resealed(bytes);
}

/** The same frame with the checksum at its end made right. */
export function resealed(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt32BE(crc32(copy.subarray(0, -4)), copy.length - 4);
  return copy;
}

export function eventFrame(
  name: string,
  payload: object,
  more: Record<string, FrameHeader> = {},
): Buffer {
  const headers = { ':event-type': name, ':content-type': 'application/json', ...more };
  return frame({ ...headers, ':message-type': 'event' }, JSON.stringify(payload));
}

export function exceptionFrame(name: string, message: string): Buffer {
  const headers = { ':exception-type': name, ':content-type': 'application/json' };
  return frame({ ...headers, ':message-type': 'exception' }, JSON.stringify({ message }));
}

/** The same bytes with one bit flipped. */
export function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
