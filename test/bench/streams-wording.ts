import { Buffer } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';

/**
 * What the bench of streams says and hears. The prompt of a call has its order, `ORDER events
 * gap_ms`; each event has `NUMBER@TIME_MS`, when it was sent, and the last one what all of them
 * hash to, so that a stream that came whole is told from one that did not.
 */
export interface StreamOrder {
  /** No events: an answer in one piece. */
  events: number;
  gap_ms: number;
}

const ORDER = /ORDER (\d+) (\d+)/;
const PLAIN: StreamOrder = { events: 0, gap_ms: 0 };
/** Of one tool's result in a turn. */
const RESULT_CHARACTERS = 6_000;

export function orderOfPrompt(text: string): StreamOrder {
  const [, events, gap_ms] = ORDER.exec(text) ?? [];
  return events === undefined ? PLAIN : { events: Number(events), gap_ms: Number(gap_ms) };
}

export function callBody({ events, gap_ms }: StreamOrder, bytes: number): string {
  const content = `ORDER ${events} ${gap_ms} ${'Count the boats. '.repeat(bytes / 17)}`;
  const options = { stream: true, stream_options: { include_usage: true } };
  const messages = [{ role: 'user', content }];
  return JSON.stringify({ model: 'm', messages, max_tokens: 256, ...(events > 0 && options) });
}

/** A coding agent's turn of about that many bytes: calls of tools, and what the tools found. */
export function turnBody(bytes: number): string {
  const line = 'export const step = (input: string): string[] => input.split(/\\s+/u); // größer\n';
  const result = line.repeat(Math.ceil(RESULT_CHARACTERS / line.length));
  const pairs = Math.max(1, Math.floor(bytes / (Buffer.byteLength(JSON.stringify(result)) + 280)));
  const messages = Array.from({ length: pairs }, (_, at) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: `call_${at}`, type: 'function', function: { name: 'read', arguments: '{"at":1}' } },
      ],
    },
    { role: 'tool', tool_call_id: `call_${at}`, content: result },
  ]).flat();
  const start = [{ role: 'user', content: 'Mend it.' }];
  const read = { name: 'read', parameters: { type: 'object' } };
  const tools = [{ type: 'function', function: read }];
  return JSON.stringify({ model: 'm', max_tokens: 256, messages: [...start, ...messages], tools });
}

/** The texts of one stream, on either side. */
export class StreamTexts {
  readonly #hash: Hash = createHash('sha256');
  #events = 0;

  next(): string {
    const text = `${this.#events}@${nowMs()}`;
    this.#add(text);
    return text;
  }

  last(): string {
    return this.#hash.digest('base64');
  }

  /** How long ago it was sent; undefined for the last one, which tells if all is whole. */
  take(text: string): number | undefined {
    const [, number, sent_ms] = /^(\d+)@([\d.]+)$/.exec(text) ?? [];
    if (sent_ms === undefined) {
      if (text !== this.last()) throw new Error('a stream is not what was sent');
      return undefined;
    }
    if (Number(number) !== this.#events) throw new Error(`event ${number} came out of order`);
    this.#add(text);
    return nowMs() - Number(sent_ms);
  }

  #add(text: string): void {
    this.#hash.update(text);
    this.#events += 1;
  }
}

/** Milliseconds on a clock that all processes of the machine share. */
function nowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}
