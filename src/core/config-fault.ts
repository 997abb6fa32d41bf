/** Something wrong (or doubtful) in gateway.yaml or a manifest, with its place; both from 1. */
export interface ConfigFault {
  severity: 'error' | 'warning';
  /** A stable word for scripts, such as `unknown_key`. */
  code: string;
  file: string;
  line: number;
  column: number;
  /** One sentence that holds the wrong word. Never an expanded secret. */
  message: string;
  /** The right word, or what to do; empty where there is none. */
  hint: string;
}

/** Where a value stands in its file, for faults found after loading. */
export interface Place {
  file: string;
  line: number;
  column: number;
}
