import { isRecord } from '../lib/objects.js';
import type { Report } from './report.js';
import { hideSecrets } from './secrets.js';
import type { ConfigFault, Place } from '../core/config-fault.js';

/** The place of a value in a file: offsets from its beginning, and its text as written. */
export interface Mark {
  key: number;
  value: number;
  /** The characters of a scalar in the file; undefined for lists and blocks. */
  written: string | undefined;
  /** The characters after expansion. They may hold a secret, so no message shows them. */
  text: string | undefined;
  expanded: boolean;
  /** The source of its file, which is another one than holds the mark if the file is included. */
  from: Source;
}

/** A fault without its place. `at` says whether the key or the value of the pointer is at fault. */
export interface FaultDetails {
  code: string;
  message: string;
  hint?: string;
  at?: 'key' | 'value';
  severity?: ConfigFault['severity'];
}

/** The entry that was asked for last: the beginning of the pointers within it, and its source. */
interface LastEntry {
  beginning: string;
  source: Source;
}

/** What a fault may show of its line stands within this distance, however long the line is. */
const NEAR_CHARACTERS = 1_000;

/**
 * A YAML file as data, with the place of every value. Places are found by JSON pointer, as in the
 * errors of the schema. Entries of other files can be added, and keep their places there.
 */
export class Source {
  value: unknown = {};
  /** False if the text is not YAML, so that `value` is empty. */
  readable = false;
  /** False if entries are missing because a file that holds them could not be read. */
  complete = true;
  /** The pointers of values that could not be read. They get no further faults. */
  readonly invalid_pointers = new Set<string>();
  /** The pointers of those that have a variable or a file which is not known. */
  readonly unread = new Set<string>();
  readonly #marks = new Map<string, Mark>();
  /** The sources of included blocks and entries, by pointer. */
  readonly #included = new Map<string, Source>();
  #last_entry: LastEntry | undefined;
  #starts: readonly number[] = [];

  constructor(
    /** The path as the operator gave it. */
    readonly file: string,
    readonly report: Report,
    readonly whole: string,
  ) {}

  /** The place of a value; undefined for a value that the file does not have. */
  mark(pointer: string): Mark | undefined {
    const source = this.#included.size === 0 ? this : this.#sourceOf(pointer);
    return source.#marks.get(pointer);
  }

  has(pointer: string): boolean {
    return this.mark(pointer) !== undefined;
  }

  /** Notes the place of a value, when the file is read. */
  note(pointer: string, mark: Mark): void {
    this.#marks.set(pointer, mark);
  }

  /** Takes the places of a block or an entry, and of all within it, from the file that has it. */
  include(pointer: string, part: Source): void {
    this.#included.set(pointer, part);
    this.#last_entry = undefined;
  }

  /** This file, and those of which it includes entries. */
  get parts(): ReadonlySet<Source> {
    return new Set([this, ...this.#included.values()]);
  }

  /** Visits all values, those of the file itself first. */
  eachMark(visit: (pointer: string, mark: Mark) => void): void {
    for (const part of this.parts) {
      part.#marks.forEach((mark, pointer) => {
        if (this.#sourceOf(pointer) === part) visit(pointer, mark);
      });
    }
  }

  /** The source that has a value. A block is one key deep, and an entry two: `/models/NAME`. */
  #sourceOf(pointer: string): Source {
    const last = this.#last_entry;
    // Values are asked for entry by entry.
    if (last && pointer.startsWith(last.beginning)) return last.source;
    const block_end = pointer.indexOf('/', 1);
    if (block_end < 0) return this.#included.get(pointer) ?? this;
    const end = pointer.indexOf('/', block_end + 1);
    const entry = end < 0 ? pointer : pointer.slice(0, end);
    const source = this.#included.get(entry) ?? this;
    this.#last_entry = { beginning: `${entry}/`, source };
    return source;
  }

  place(pointer: string, at: 'key' | 'value' = 'value'): Place {
    const mark = this.mark(pointer);
    return mark ? mark.from.placeOf(mark[at]) : this.placeOf(0);
  }

  placeOf(offset: number): Place {
    const starts = this.#lineStarts();
    const line = lastAtMost(starts, offset);
    return { file: this.file, line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  }

  /** The offset of each line. Most files have no fault, and so need none. */
  #lineStarts(): readonly number[] {
    if (this.#starts.length === 0) {
      const ends = this.whole.matchAll(/\n/g);
      this.#starts = [0, ...Array.from(ends, ({ index }) => index + 1)];
    }
    return this.#starts;
  }

  /** The line of a key from that key on, as written. */
  lineOf(pointer: string): string {
    const mark = this.mark(pointer);
    return mark ? (/^[^\n]*/.exec(mark.from.whole.slice(mark.key))?.[0] ?? '') : '';
  }

  fault(pointer: string, wrong: FaultDetails): void {
    // A variable that is not known says nothing about the key before it.
    const isKnown = wrong.at === 'key' && this.unread.has(pointer);
    if (this.invalid_pointers.has(pointer) && !isKnown) return;
    this.faultAsWritten(pointer, wrong);
  }

  /** Reports a fault of a value that it has as written, whatever its variables stand for. */
  faultAsWritten(pointer: string, wrong: FaultDetails): void {
    const mark = this.mark(pointer);
    (mark?.from ?? this).faultAt(mark?.[wrong.at ?? 'value'] ?? 0, wrong);
  }

  /** Reports a fault at an offset of this file. No secret of its line is shown. */
  faultAt(offset: number, { code, message, hint = '', severity = 'error' }: FaultDetails): void {
    const place = this.placeOf(offset);
    const start = offset - Math.min(place.column - 1, NEAR_CHARACTERS);
    const [line = ''] = this.whole.slice(start, offset + NEAR_CHARACTERS).split('\n', 1);
    const [shown = '', shown_hint = ''] = [message, hint].map((text) => hideSecrets(text, line));
    this.report.add({ severity, code, ...place, message: shown, hint: shown_hint });
  }

  /** The keys of a block as the file has them, faulty ones too; undefined if there is no block. */
  keys(pointer: string): string[] | undefined {
    const block = this.valueAt(pointer);
    return isRecord(block) ? Object.keys(block) : undefined;
  }

  /** A value as the file has it, faulty or not. */
  valueAt(pointer: string): unknown {
    return segments(pointer).reduce<unknown>(
      (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
      this.value,
    );
  }

  /** The text of a scalar after expansion. */
  text(pointer: string): string | undefined {
    return this.mark(pointer)?.text;
  }

  /** Whether a value came from outside the file, so that no message may show it. */
  hides(pointer: string): boolean {
    return this.mark(pointer)?.expanded === true;
  }

  /** A value as written in the file, without quotes. */
  written(pointer: string): string {
    return this.mark(pointer)?.written ?? '';
  }

  /** Whether a value, or one within it, came from outside the file. */
  hidesWithin(pointer: string): boolean {
    if (this.hides(pointer)) return true;
    const inside = `${pointer}/`;
    let isHidden = false;
    this.eachMark((one, { expanded }) => {
      if (expanded && one.startsWith(inside)) isHidden = true;
    });
    return isHidden;
  }

  /** A value for a message: always as written in the file, never as expanded. */
  word(pointer: string): string {
    const written = this.mark(pointer)?.written;
    return written === undefined ? 'this' : quote(written);
  }
}

/** The index of the last of ascending numbers that is at most `limit`; 0 if none is. */
function lastAtMost(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle;
    else high = middle;
  }
  return low;
}

/** A JSON pointer from keys and indexes. */
export function pointer(...keys: readonly (string | number)[]): string {
  let path = '';
  // Called for each key of each file: an index is cheaper than an iterator.
  for (let at = 0; at < keys.length; at += 1) path += `/${escaped(String(keys[at]))}`;
  return path;
}

/** Most keys have neither `~` nor `/`. */
function escaped(key: string): string {
  if (!key.includes('~') && !key.includes('/')) return key;
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

const EXTENSION = /^\/(?:(?:models|providers)\/[^/]*\/)?x-/;

/**
 * Whether a value stands under a key that begins with `x-`, at the top or in a model or a provider:
 * nothing reads it but the aliases of its anchors.
 */
export function isExtension(pointer: string): boolean {
  return pointer.includes('/x-') && EXTENSION.test(pointer);
}

/** The keys and indexes of a JSON pointer. */
export function segments(pointer: string): string[] {
  const keys = pointer.split('/').slice(1);
  if (!pointer.includes('~')) return keys;
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** `limits.max_tokens`, `upstreams[2].weight`: the end of a pointer in readable form. */
export function label(pointer: string): string {
  const path = segments(pointer);
  const named = path.findLastIndex((key, i) => i < path.length - 1 && !/^\d+$/.test(key));
  const [first, ...rest] = path.slice(Math.max(named, 0));
  const steps = rest.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`));
  return first === undefined ? 'the file' : first + steps.join('');
}

/** A word from a file, safe and short enough to print. */
export function quote(word: string): string {
  return JSON.stringify(word.length > 80 ? `${word.slice(0, 77)}...` : word);
}
