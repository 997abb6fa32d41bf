import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import * as zlib from 'node:zlib';
import { GatewayError } from '../core/errors.js';

/** The content codings that a body may have, as the header `Accept-Encoding` names them. */
export const CODINGS = 'gzip, deflate, br, zstd';
/** The largest window of a zstd frame, in bytes (RFC 9659). It is allocated at once. */
const ZSTD_WINDOW_LOG = 23;

/** What a body is refused with that unpacks to more than it may, or that is not so packed. */
export interface UnpackTerms {
  limit_bytes: number;
  tooLarge: () => GatewayError;
}

/** Makes the stream that unpacks a body. */
export type Unpacker = (terms: UnpackTerms) => Transform;

const UNPACKERS: ReadonlyMap<string, Unpacker> = new Map([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ['deflate', () => zlib.createInflate()],
  ['br', () => zlib.createBrotliDecompress()],
  ['zstd', createUnzstd],
]);

/**
 * What unpacks the body of a request; undefined if it is not packed. Throws `GatewayError` (415)
 * for any other coding, and for several at once.
 */
export function unpackerOf({ headers }: IncomingMessage): Unpacker | undefined {
  const coding = headers['content-encoding']?.trim().toLowerCase();
  if (coding === undefined || coding === 'identity') return undefined;
  const unpacker = UNPACKERS.get(coding);
  if (unpacker) return unpacker;
  const message = `The Content-Encoding of the body must be one of ${CODINGS}, or none.`;
  throw new GatewayError('unsupported_encoding', message, {
    headers: { 'accept-encoding': CODINGS },
  });
}

/** The error for a body that is not packed as its header says. */
export function notPacked({ headers }: IncomingMessage, cause: unknown): GatewayError {
  const coding = headers['content-encoding'] ?? '';
  const message = `The body cannot be unpacked: it is not whole, or not valid ${coding}.`;
  return new GatewayError('invalid_request', message, { cause });
}

/** The parts of `node:zlib` that Node 20 lacks. */
interface NewerZlib {
  createZstdDecompress?: (options: zlib.ZlibOptions & { params: object }) => Transform;
  constants: { ZSTD_d_windowLogMax?: number };
}

function createUnzstd(terms: UnpackTerms): Transform {
  const { createZstdDecompress, constants } = zlib as NewerZlib;
  const limit = constants.ZSTD_d_windowLogMax;
  if (!createZstdDecompress || limit === undefined) return new Unzstd(terms);
  return createZstdDecompress({ params: { [limit]: ZSTD_WINDOW_LOG } });
}

/**
 * Unpacks zstd on a Node without it. It takes the whole body first: the decoder unpacks at once,
 * and no more than it is told.
 */
class Unzstd extends Transform {
  readonly #chunks: Buffer[] = [];

  constructor(private readonly terms: UnpackTerms) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#unpack().then(
      (bytes) => done(null, bytes),
      (error: Error) => done(error),
    );
  }

  async #unpack(): Promise<Buffer> {
    const { limit_bytes, tooLarge } = this.terms;
    const packed = Buffer.concat(this.#chunks);
    const frame = readFrame(packed);
    if (!frame) throw new Error('The body is no whole zstd frame.');
    if ((frame.content_bytes ?? 0) > limit_bytes) throw tooLarge();
    const { ZSTDDecoder } = await import('zstddec');
    const decoder = new ZSTDDecoder();
    await decoder.init();
    const bytes = Buffer.from(decoder.decode(packed, limit_bytes));
    if (bytes.length > 0 || frame.content_bytes === 0) return bytes;
    // The decoder does not say why it failed.
    throw frame.content_bytes === undefined ? tooLarge() : new Error('The zstd frame is damaged.');
  }
}

/** A frame of zstd whose blocks are all there. The length of its content may not be stated. */
interface ZstdFrame {
  content_bytes: number | undefined;
}

const ZSTD_MAGIC = 0xfd2fb528;
const BLOCK_HEAD_BYTES = 3;
const CHECKSUM_BYTES = 4;
const RUN_BLOCK = 1;

/** Undefined if the bytes are not one whole frame (RFC 8878, section 3.1.1). */
function readFrame(bytes: Buffer): ZstdFrame | undefined {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== ZSTD_MAGIC) return undefined;
  const descriptor = bytes[4] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const size_flag = descriptor >> 6;
  const size_bytes = size_flag === 0 ? Number(isSingleSegment) : 1 << size_flag;
  const dictionary_bytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const size_at = 5 + Number(!isSingleSegment) + dictionary_bytes;
  let at = size_at + size_bytes;
  for (let isLast = false; !isLast;) {
    if (at + BLOCK_HEAD_BYTES > bytes.length) return undefined;
    const head = bytes.readUIntLE(at, BLOCK_HEAD_BYTES);
    isLast = (head & 1) === 1;
    at += BLOCK_HEAD_BYTES + (((head >> 1) & 3) === RUN_BLOCK ? 1 : head >> 3);
  }
  if (at + ((descriptor & 4) === 0 ? 0 : CHECKSUM_BYTES) > bytes.length) return undefined;
  if (size_bytes === 0) return { content_bytes: undefined };
  const content_bytes =
    size_bytes === 8
      ? Number(bytes.readBigUInt64LE(size_at))
      : bytes.readUIntLE(size_at, size_bytes) + (size_bytes === 2 ? 256 : 0);
  return { content_bytes };
}
