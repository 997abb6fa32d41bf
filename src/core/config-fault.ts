/** An error or a warning about gateway.yaml or a manifest. Line and column count from 1. */
export interface ConfigFault {
  severity: 'error' | 'warning';
  /** A stable word for scripts, such as `unknown_key`. */
  code: string;
  file: string;
  line: number;
  column: number;
  /** One sentence with the wrong word. It never holds an expanded secret. */
  message: string;
  /** The right word or the remedy; empty if there is none. */
  hint: string;
}

/** The place of a value in its file, for faults that are found after loading. */
export interface Place {
  file: string;
  line: number;
  column: number;
}
