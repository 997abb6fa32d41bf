/** What the model says once its tool has run. */
export const FINAL_TEXT = 'The file is written, Tollgate saw it.';
export const ASIDE_TEXT = 'A file';

/** The tool call by which an agent writes a file. */
export interface ToolCall {
  /** The tool's name; the gateway puts the namespace of a tool and `__` before it. */
  name: string;
  arguments: Record<string, unknown>;
}

/** `aside` is a call without the agent's tools, such as one for a title. */
export type Turn = 'tool' | 'text' | 'aside';

/** A call that an upstream answered, and the usage that it named. */
export interface UpstreamCall {
  turn: Turn;
  usage: { prompt_tokens: number; cached_tokens: number; completion_tokens: number };
}

/** What a request of any wire tells: its tools, and whether it ends with a tool's result. */
interface Asked {
  tools: readonly string[];
  hasResult: boolean;
}

/** The model of a scripted upstream: it calls one tool, and says `FINAL_TEXT` to the result. */
export class Script {
  #tool: ToolCall = { name: '', arguments: {} };
  calls: UpstreamCall[] = [];

  begin(tool: ToolCall): void {
    this.#tool = tool;
    this.calls = [];
  }

  /** The next turn, with the tool's name as the request lists it. */
  next({ tools, hasResult }: Asked): { turn: Turn; tool: ToolCall } {
    const { name } = this.#tool;
    const listed = tools.find((each) => each === name || each.endsWith(`__${name}`));
    const tool = { ...this.#tool, name: listed ?? name };
    return { turn: listed === undefined ? 'aside' : hasResult ? 'text' : 'tool', tool };
  }
}
