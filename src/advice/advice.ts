import type { FinishedFile } from '../config/load.js';
import type { Place } from '../core/config-fault.js';
import type { FaultDetails, Source } from '../yaml/source.js';

/** A value that a warning is about: its JSON pointer in gateway.yaml, or its place. */
type Where =
  | {
      pointer: string;
      /** The manifest that has the value, if it is not gateway.yaml. */
      source?: Source;
      /** True for a fault of the value as written, whatever its variables stand for. */
      as_written?: true;
    }
  | { place: Place };

/** A warning of a rule, whose code it has. */
export type Warning = Where & Pick<FaultDetails, 'message' | 'hint' | 'at'>;

/** A rule: it looks at a configuration without errors, and says what is most likely not meant. */
export interface Advice {
  /** The stable word for scripts and for `# tollgate: allow CODE`. Rules may share one. */
  readonly code: string;
  /** The money or the secret that the rule saves, or the mistake of a first hour. */
  readonly saves: string;
  check(view: FinishedFile): Iterable<Warning> | AsyncIterable<Warning>;
}
