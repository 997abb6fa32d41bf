const SECOND_MS = 1000;
/** A shorter stream says nothing of a model's speed. */
const LEAST_STREAM_MS = 20;

/** Measures a call from the moment at which it is made. */
export class Stopwatch {
  readonly #start = performance.now();
  #first: number | undefined;

  /** Notes the first token. */
  begin(): void {
    this.#first ??= performance.now();
  }

  /** The times until now in words: to the first token, of the whole, and tokens per second. */
  said(tokens?: number): string[] {
    const now = performance.now();
    const whole = seconds(now - this.#start);
    if (this.#first === undefined) return [whole];
    const streamed = now - this.#first;
    const said = [`${seconds(this.#first - this.#start)} to the first token`, `${whole} in all`];
    if (tokens === undefined || streamed < LEAST_STREAM_MS) return said;
    const rate = Math.round((tokens / streamed) * SECOND_MS);
    return [...said, `${rate} tokens/s`];
  }
}

function seconds(span_ms: number): string {
  const span = span_ms / SECOND_MS;
  return `${span < 10 ? span.toFixed(2) : span.toFixed(0)} s`;
}
