/** Bytes as an upstream's body brings them. */
export async function* each<T>(packets: Iterable<T>): AsyncGenerator<T, undefined> {
  yield* packets;
}

/** Cuts bytes before each of the places, in any order. */
export function splitAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [0, ...places, bytes.length].sort((a, b) => a - b);
  return cuts.slice(1).map((end, at) => bytes.subarray(cuts[at], end));
}

/**
 * A text the three ways it may arrive: whole, byte by byte, and cut inside each character of several
 * bytes and between each carriage return and its line feed.
 */
export function inThreeWays(text: string): [string, Uint8Array[]][] {
  const bytes = Buffer.from(text);
  const isInside = (byte: number, at: number): boolean =>
    (byte & 0xc0) === 0x80 || (byte === 0x0a && bytes[at - 1] === 0x0d);
  const awkward = [...bytes.keys()].filter((at) => isInside(bytes[at] ?? 0, at));
  return [
    ['in one write', [bytes]],
    ['one byte a write', [...bytes].map((byte) => Buffer.of(byte))],
    ['split at the awkward places', splitAt(bytes, awkward)],
  ];
}
