/** What clients ask, fakes receive and answer, and clients hear, in the words of no format. */

/** A question of one turn. */
export interface Question {
  /** The PNG, in base64, that stands beside the text. */
  image?: string;
  hasTools?: boolean;
  /** Whether a tool has to be called. */
  mustCall?: boolean;
  thinks?: boolean;
}

export interface Call {
  name: string;
  args: unknown;
}

/** One answer of a model. */
export interface Turn {
  thought?: string;
  text?: string;
  calls?: readonly Call[];
}

/** A request as an upstream reads it. */
export interface Arrived {
  system: string;
  /** Of the user, all turns. */
  text: string;
  images: string[];
  tools: { name: unknown; description: unknown; parameters: unknown }[];
  mustCall: boolean;
  /** Earlier calls, and their results by the names of the tools. */
  calls: Call[];
  results: { name: string; text: string }[];
  thinks: boolean;
  /** What the upstream demands of its earlier thoughts, undefined where it is not there. */
  state: unknown;
}

/** An answer as a client reads it, streamed or whole. */
export interface Told {
  thought: string;
  text: string;
  calls: (Call & { id: string })[];
  prompt_tokens: number;
  completion_tokens: number;
  /** What the client puts behind its request to go on. */
  echo: object[];
}

export const SYSTEM = 'You are brief.';
export const TEXT = 'How is Oslo, and how late? ☃';
export const TOOL = {
  name: 'look_up',
  description: 'Looks up a fact of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, fact: { type: 'string' } },
    required: ['city', 'fact'],
  },
};

/** What every turn takes: 40 tokens in, of which 10 are cached, 9 out, of which 4 are thoughts. */
export const TOKENS = { fresh: 30, cached: 10, spoken: 5, thoughts: 4 };
export const PROMPT_TOKENS = TOKENS.fresh + TOKENS.cached;
export const COMPLETION_TOKENS = TOKENS.spoken + TOKENS.thoughts;

/** What stands at a path in a JSON value; undefined where there is nothing. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Record<string, unknown> | undefined)?.[key],
    value,
  );
}

/** The elements at a path; none where there is no list. */
export function listAt(value: unknown, ...path: (string | number)[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The text at a path, or the texts of all parts of the list there. */
export function textAt(value: unknown, ...path: (string | number)[]): string {
  const found = at(value, ...path);
  if (Array.isArray(found)) return found.map((part: unknown) => textAt(part, 'text')).join('');
  return typeof found === 'string' ? found : '';
}

/** Both halves of a text, as two packets bring it. */
export function halves(text: string): string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** The `data` of all events of a stream, as JSON. */
export function eventsIn(text: string): unknown[] {
  return text
    .split(/\r?\n\r?\n/u)
    .flatMap((event) => /^data: (.+)$/mu.exec(event)?.[1] ?? [])
    .filter((data) => data !== '[DONE]')
    .map((data): unknown => JSON.parse(data));
}
