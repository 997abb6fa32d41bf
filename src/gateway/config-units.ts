type Steps = readonly (readonly [unit: string, size: number])[];

const DURATIONS: Steps = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];
const SIZES: Steps = [
  ['gb', 1024 ** 3],
  ['mb', 1024 ** 2],
  ['kb', 1024],
];

/** A duration as gateway.yaml writes it: `30s` of 30,000 ms. */
export function formatDuration(span_ms: number): string {
  return word(span_ms, DURATIONS, 'ms');
}

/** A size as gateway.yaml writes it: `20mb` of 20,971,520 bytes. */
export function formatSize(bytes: number): string {
  return word(bytes, SIZES, 'b');
}

/** The value in the largest unit of which it is a whole number. */
function word(value: number, steps: Steps, smallest: string): string {
  const step = value > 0 ? steps.find(([, size]) => value % size === 0) : undefined;
  return step ? `${value / step[1]}${step[0]}` : `${value}${smallest}`;
}
