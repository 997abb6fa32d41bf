/** Writes the bit fields that H.264 headers and slices are made of. */
export class BitWriter {
  readonly #bytes: number[] = [];
  #held = 0;
  #free = 8;

  /** The lowest `count` bits of a value, at most 24 of them, the highest first. */
  bits(value: number, count: number): this {
    let left = count;
    while (left > 0) {
      const taken = Math.min(left, this.#free);
      left -= taken;
      this.#free -= taken;
      this.#held |= ((value >>> left) & ((1 << taken) - 1)) << this.#free;
      if (this.#free === 0) this.#flush();
    }
    return this;
  }

  /** Exp-Golomb codes, `ue(v)` of the standard: small numbers in few bits. */
  ue(...values: number[]): this {
    for (const value of values) {
      const length = 32 - Math.clz32(value + 1);
      this.bits(0, length - 1).bits(value + 1, length);
    }
    return this;
  }

  /** Whole bytes, after zeros up to the next byte's start. */
  align(bytes: Uint8Array): this {
    if (this.#free < 8) this.#flush();
    for (const byte of bytes) this.#bytes.push(byte);
    return this;
  }

  /** All bytes, closed by the bit that marks the end of a NAL unit's payload. */
  end(): number[] {
    this.bits(1, 1);
    if (this.#free < 8) this.#flush();
    return this.#bytes;
  }

  #flush(): void {
    this.#bytes.push(this.#held);
    this.#held = 0;
    this.#free = 8;
  }
}

/** A NAL unit: no run of zeros in it can be taken for the start of another one. */
export function nal(header: number, payload: readonly number[]): Buffer {
  const escaped = [header];
  let zeros = 0;
  for (const byte of payload) {
    if (zeros >= 2 && byte <= 3) {
      escaped.push(3);
      zeros = 0;
    }
    escaped.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from(escaped);
}
