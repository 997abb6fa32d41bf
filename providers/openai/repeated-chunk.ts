/**
 * Most chunks of a stream differ in nothing but their text. Where all the rest is the same to the
 * letter, what was read out of it last time holds again, and only the text is new: parsing a chunk
 * whole costs more than everything else that is done to it.
 */
export interface Echo {
  head: string;
  tail: string;
  /** The choice that such a chunk speaks for. */
  index: number;
  /** How many chunks were learnt from since one was recognised. */
  learnt: number;
}

/** Some upstreams never send two chunks alike; they are not studied for ever. */
const MAX_LEARNT = 8;

/** What a JSON string says by itself, without an escape. */
const PLAIN = /^[^"\\\p{Cc}]+$/u;

/** Not found by chance in a chunk. */
const PROBE = 'tollgate-probe';

export function newEcho(): Echo {
  return { head: '', tail: '', index: 0, learnt: 0 };
}

/** The text of a chunk that is otherwise like the one learnt; undefined where it has to be read. */
export function echoed(echo: Echo, data: string): string | undefined {
  const { head, tail } = echo;
  const end = data.length - tail.length;
  // `startsWith` goes letter by letter and would cost as much as parsing.
  if (head === '' || data.slice(0, head.length) !== head || data.slice(end) !== tail) {
    return undefined;
  }
  const text = data.slice(head.length, end);
  if (!PLAIN.test(text)) return undefined;
  echo.learnt = 0;
  return text;
}

/**
 * Learns a chunk that says nothing but `text` for a choice. `read` answers what a chunk says so;
 * it is asked about another text in the same place, so that the place is known to be the right one.
 */
export function learn(
  echo: Echo,
  data: string,
  { index, text }: { index: number; text: string },
  read: (data: string) => string | undefined,
): void {
  if (echo.learnt >= MAX_LEARNT || !PLAIN.test(text)) return;
  echo.learnt += 1;
  const said = `"content":"${text}"`;
  const at = data.indexOf(said);
  if (at < 0) return;
  const head = data.slice(0, at + said.length - text.length - 1);
  const tail = data.slice(at + said.length - 1);
  if (read(head + PROBE + tail) !== PROBE) return;
  Object.assign(echo, { head, tail, index });
}
