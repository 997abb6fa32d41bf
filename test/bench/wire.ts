import { Buffer } from 'node:buffer';

/** What one HTTP/1.1 message brings, in order. Body pieces come without their chunk framing. */
export interface MessageSink {
  /** Start line and headers, without the empty line after them. */
  head(text: string): void;
  body(bytes: Buffer): void;
  end(): void;
}

const END_OF_HEAD = '\r\n\r\n';
const END_OF_LINE = '\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;

type Step = 'head' | 'sized' | 'chunk_size' | 'chunk' | 'chunk_end' | 'trailer';

/**
 * Reads the messages of one connection. Written by hand because the bench's own ends must cost far
 * less than what they measure; it knows only what the systems here send.
 */
export class MessageReader {
  #step: Step = 'head';
  #kept: Buffer | undefined;
  #left = 0;

  constructor(private readonly sink: MessageSink) {}

  /** True between two messages. */
  get idle(): boolean {
    return this.#step === 'head' && this.#kept === undefined;
  }

  push(data: Buffer): void {
    const bytes = this.#kept ? Buffer.concat([this.#kept, data]) : data;
    this.#kept = undefined;
    let at = 0;
    while (at < bytes.length) {
      const next = this.#advance(bytes, at);
      if (next === -1) {
        this.#kept = bytes.subarray(at);
        return;
      }
      at = next;
    }
  }

  /** The place after what was read, or -1 where more bytes are needed. */
  #advance(bytes: Buffer, at: number): number {
    if (this.#step === 'head') return this.#head(bytes, at);
    if (this.#step === 'sized' || this.#step === 'chunk') return this.#content(bytes, at);
    return this.#line(bytes, at);
  }

  #head(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(END_OF_HEAD, at, 'latin1');
    if (end === -1) return -1;
    const text = bytes.toString('latin1', at, end);
    const length = LENGTH.exec(text);
    this.#left = length ? Number(length[1]) : 0;
    this.#step = !length && CHUNKED.test(text) ? 'chunk_size' : 'sized';
    this.sink.head(text);
    if (this.#step === 'sized' && this.#left === 0) this.#finish();
    return end + END_OF_HEAD.length;
  }

  #content(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.#left, bytes.length);
    this.#left -= end - at;
    this.sink.body(bytes.subarray(at, end));
    if (this.#left > 0) return end;
    if (this.#step === 'chunk') this.#step = 'chunk_end';
    else this.#finish();
    return end;
  }

  #line(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(END_OF_LINE, at, 'latin1');
    if (end === -1) return -1;
    if (this.#step === 'chunk_end') this.#step = 'chunk_size';
    else if (this.#step === 'chunk_size') this.#size(bytes.toString('latin1', at, end));
    else if (end === at) this.#finish();
    return end + END_OF_LINE.length;
  }

  #size(text: string): void {
    this.#left = Number.parseInt(text, 16);
    this.#step = this.#left === 0 ? 'trailer' : 'chunk';
  }

  #finish(): void {
    this.#step = 'head';
    this.sink.end();
  }
}
