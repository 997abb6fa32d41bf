const PARTS = 8;
/** In linear time a whole costs what its eighths do, in quadratic time eight times as much. */
const MAX_MS = 4;
/** A shorter time says nothing: the compiler and the collector take as much. */
const LEAST_MS = 50;
const TRIES = 3;

/**
 * Whether reading a text takes processor time in proportion to its length. It compares the text
 * with its first eighth read eight times, so that a slow or busy machine changes nothing.
 */
export function isLinear(text: string, read: (text: string) => void): boolean {
  const part = text.slice(0, Math.ceil(text.length / PARTS));
  for (let tried = 0; tried < TRIES; tried += 1) {
    const whole_ms = cpu(() => {
      read(text);
    });
    if (whole_ms < LEAST_MS) return true;
    const parts_ms = cpu(() => {
      for (let count = 0; count < PARTS; count += 1) read(part);
    });
    if (whole_ms < MAX_MS * parts_ms) return true;
  }
  return false;
}

function cpu(act: () => void): number {
  const began = process.cpuUsage();
  act();
  return process.cpuUsage(began).user / 1_000;
}
