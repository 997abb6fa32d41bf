const SECOND_MS = 1000;
/** A shorter stream says nothing of a model's speed. */
const MIN_STREAM_MS = 20;

/** Measures a call from the moment at which it is made. */
export class Stopwatch {
  readonly #start = performance.now();
  #first: number | undefined;

  /** Notes the first token. */
  begin(): void {
    this.#first ??= performance.now();
  }

  /** The times until now in words: to the first token, of the whole, and tokens per second. */
  summary(tokens?: number): string[] {
    const now = performance.now();
    const whole = seconds(now - this.#start);
    if (this.#first === undefined) return [whole];
    const streamed = now - this.#first;
    const times = [`${seconds(this.#first - this.#start)} to the first token`, `${whole} in all`];
    if (tokens === undefined || streamed < MIN_STREAM_MS) return times;
    const rate = Math.round((tokens / streamed) * SECOND_MS);
    return [...times, `${rate} tokens/s`];
  }
}

function seconds(span_ms: number): string {
  const span = span_ms / SECOND_MS;
  return `${span < 10 ? span.toFixed(2) : span.toFixed(0)} s`;
}
