import { distance } from '../yaml/did-you-mean.js';

/** The IDs of the models that a provider is known to have. */
export class ModelNames {
  readonly #ids: ReadonlySet<string>;
  readonly #known: readonly { id: string; parts: readonly string[]; bare: string }[];

  constructor(ids: readonly string[]) {
    this.#ids = new Set(ids);
    this.#known = ids.map((id) => ({ id, parts: partsOf(id), bare: partsOf(id).join('') }));
  }

  /** Made when it is first needed: most files name known models alone. */
  #inOrder: ReadonlyMap<string, string> | undefined;

  #turned(): ReadonlyMap<string, string> {
    this.#inOrder ??= new Map(this.#known.map(({ id, parts }) => [inOrder(parts), id]));
    return this.#inOrder;
  }

  /** Whether an ID may have a slash: none of the known ones has, if any is known. */
  get mayHaveSlash(): boolean {
    return this.#known.length === 0 || this.#known.some(({ id }) => id.includes('/'));
  }

  /** One of the models, for an example. */
  get first(): string | undefined {
    return this.#known[0]?.id;
  }

  /** The ID itself if it is a known one. */
  exact(id: string): string | undefined {
    return this.#ids.has(id) ? id : undefined;
  }

  /** The known model whose ID is another one with a vendor in front: `VENDOR.NAME`. */
  longer(id: string): string | undefined {
    const [dotted, slashed] = [`.${id}`, `/${id}`];
    return this.#known.find((one) => one.id.includes(dotted) || one.id.endsWith(slashed))?.id;
  }

  /** Whether a known model begins with the same letters, so that an ID may be of a newer one. */
  hasFamily(id: string): boolean {
    const family = familyOf(id);
    return this.#known.some((one) => familyOf(one.id) === family);
  }

  /**
   * The known model that an unknown ID most likely means: the same in other case, with other marks
   * between its parts, with its words in another order, or with one misspelt word. Undefined for an
   * ID that may be of a newer model: models of one family differ by their numbers, as `NAME-5.1`
   * and `NAME-5.2`. A date at its end stays as it is.
   */
  meant(id: string): string | undefined {
    if (this.#ids.has(id)) return undefined;
    return this.#nearest(id) ?? this.#snapshot(id);
  }

  #nearest(id: string): string | undefined {
    const parts = partsOf(id);
    const bare = parts.join('');
    const versioned = `${id}:0`;
    const same = this.#known.find((one) => one.bare === bare || one.id === versioned);
    const found = same ?? this.#known.find((one) => isSlip(parts, one.parts));
    return found?.id ?? this.#turned().get(inOrder(parts));
  }

  /** The known model whose snapshot an ID with a date most likely means, with that date. */
  #snapshot(id: string): string | undefined {
    const name = withoutDate(id);
    if (name === id || this.#ids.has(name)) return undefined;
    const parts = partsOf(name);
    const bare = parts.join('');
    const same = this.#known.find((one) => one.bare === bare);
    // Lists lack many snapshots, whose names may differ in a short word.
    const found = same ?? this.#known.find((one) => isSlip(parts, one.parts, DATED_CHARACTERS));
    return found && found.id + id.slice(name.length);
  }
}

/** Cuts the date of a snapshot, `NAME-2024-08-06` or `NAME-20251001`, and `NAME@default`. */
export function withoutDate(model: string): string {
  return model.replace(/[-@]20\d{2}-?\d{2}-?\d{2}$|@default$/u, '');
}

/** The words of an ID by the alphabet, and its numbers as they stand: 4.5 is not 5.4. */
function inOrder(parts: readonly string[]): string {
  const isNumber = (part: string): boolean => /^\d+$/.test(part);
  const words = parts.filter((part) => !isNumber(part)).toSorted();
  return [...words, ...parts.filter(isNumber)].join(' ');
}

/** A shorter word has others like it: `pro` is not `pre`. */
const WORD_CHARACTERS = 4;
const DATED_CHARACTERS = 5;

/** Whether two IDs differ in one word without digits, by one typing error. */
function isSlip(
  given: readonly string[],
  known: readonly string[],
  least = WORD_CHARACTERS,
): boolean {
  if (given.length !== known.length) return false;
  const at = given.findIndex((part, i) => part !== known[i]);
  if (at < 0 || given.some((part, i) => i > at && part !== known[i])) return false;
  const [wrong, right] = [given[at] ?? '', known[at] ?? ''];
  if (/\d/.test(wrong + right) || right.length < least) return false;
  return distance(wrong, right) === 1;
}

/** The first word of an ID without its number: `o` of `o4-mini`. */
function familyOf(id: string): string {
  return /^[a-z]*/.exec(id.toLowerCase())?.[0] ?? '';
}

function partsOf(id: string): string[] {
  return id.toLowerCase().split(/[-_.:@/ ]+/);
}
