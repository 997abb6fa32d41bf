/** A box of an MP4 file: its length, its type of four letters, and its content. */
export function box(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([u32(length), Buffer.from(type, 'latin1'), ...parts], length);
}

/** A box with a version, always 0 here, and flags. */
export function full(type: string, flags: number, ...parts: readonly Uint8Array[]): Buffer {
  return box(type, u32(flags), ...parts);
}

export function u8(...values: readonly number[]): Buffer {
  return Buffer.from(values);
}

export function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [at, value] of values.entries()) bytes.writeUInt16BE(value, at * 2);
  return bytes;
}

export function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, at * 4);
  return bytes;
}

export function zeros(count: number): Buffer {
  return Buffer.alloc(count);
}
