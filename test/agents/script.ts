/** What the model says once its tools have run. */
export const FINAL_TEXT = 'The files are written, Tollgate saw it.';
export const ASIDE_TEXT = 'A file';

/** The tool call by which an agent writes or reads a file. */
export interface ToolCall {
  /** The tool's name; the gateway puts the namespace of a tool and `__` before it. */
  name: string;
  arguments: Record<string, unknown>;
}

/** One turn of the model: a call of a tool, or a text where an agent edits by texts. */
export type Step = ToolCall | string;

/** `aside` is a call without the agent's tools, such as one for a title. */
export type Turn = 'step' | 'text' | 'aside';

/** A call that an upstream answered, and the usage that it named. */
export interface UpstreamCall {
  turn: Turn;
  usage: { prompt_tokens: number; cached_tokens: number; completion_tokens: number };
}

/** What a request of any wire tells: its tools, and how many results of tools it has. */
interface Asked {
  tools: readonly string[];
  results: number;
}

/** What the model says next: a call has a number of its own. */
export type Said = { turn: Turn; text: string } | { turn: Turn; call: ToolCall; number: number };

/** The model of a scripted upstream: it takes its steps one by one, and says `FINAL_TEXT`. */
export class Script {
  #steps: readonly Step[] = [];
  calls: UpstreamCall[] = [];

  begin(steps: readonly Step[]): void {
    this.#steps = steps;
    this.calls = [];
  }

  /** The next turn, with the tool's name as the request lists it. */
  next({ tools, results }: Asked): Said {
    const isByText = typeof this.#steps[0] === 'string';
    const number = isByText ? this.calls.length : results;
    const step = this.#steps[number];
    if (typeof step === 'string') return { turn: 'step', text: step };
    const { name } = (step ?? this.#steps[0]) as ToolCall;
    const listed = tools.find((each) => each === name || each.endsWith(`__${name}`));
    if (listed === undefined) return { turn: 'aside', text: ASIDE_TEXT };
    if (step === undefined) return { turn: 'text', text: FINAL_TEXT };
    return { turn: 'step', call: { ...step, name: listed }, number };
  }
}

/** The price of a scripted model in gateway.yaml, in dollars. */
export const PRICE =
  '{ input_per_million: 3, cached_input_per_million: 0.3, output_per_million: 15 }';

/** What a call costs at this price, as the ledger has it. */
export function chargeOf({ usage }: UpstreamCall): string {
  const { prompt_tokens, cached_tokens, completion_tokens } = usage;
  const nano =
    (prompt_tokens - cached_tokens) * 3_000 + cached_tokens * 300 + completion_tokens * 15_000;
  return `-${(nano / 1e9).toFixed(9).replace(/0{1,9}$/u, '')}`;
}
