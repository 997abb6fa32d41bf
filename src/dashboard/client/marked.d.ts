// The package `marked` is served beside these scripts, as `marked.js`. These are its types.
export interface Token {
  type: string;
  raw: string;
}

/** The fields of all tokens; each type has some of them. */
export interface Tokens extends Token {
  text: string;
  lang?: string;
  depth: number;
  ordered: boolean;
  start: number | '';
  href: string;
  checked?: boolean;
  tokens?: Token[];
  items: { tokens: Token[] }[];
  header: Cell[];
  rows: Cell[][];
}

export interface Cell {
  tokens: Token[];
}

export interface Options {
  gfm: boolean;
  breaks: boolean;
  /** `text` is the paragraph around the rest, with its links, code and escapes masked. */
  tokenizer: { emStrong: (rest: string, text: string) => undefined | false };
}

export class Marked {
  constructor(options: Options);
  lexer(markdown: string): Token[];
}
