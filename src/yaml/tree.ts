import { isAlias, isMap, isNode, isScalar, isSeq, visit } from 'yaml';
import type { Alias, Document, Node, Pair, YAMLMap } from 'yaml';
import { nearestWord } from './did-you-mean.js';
import { meantNumber } from './meant-values.js';
import { MAX_VALUES, type ValueBudget } from './expand.js';
import { pointer as join, quote, type Mark, type Source } from './source.js';
import { restsOf, templateVariable, textOf } from './tree-slips.js';
import type { DuplicateKey } from './yaml-faults.js';

interface Entry {
  name: string;
  key: number;
  value: unknown;
  /** The whole number, where a comma has cut the value. */
  whole?: string;
}

/**
 * Turns parsed YAML into plain data and notes the place of every key and value. Aliases and merge
 * keys are followed, so that a fault inside is placed where its text stands.
 */
export class Tree {
  readonly #source: Source;
  readonly #document: Document;
  readonly #expand: (text: string, pointer: string) => string;
  /** The blocks that are being read. One of them within itself is a fault. */
  readonly #open = new Set<unknown>();
  readonly duplicates: DuplicateKey[] = [];
  #found = false;
  readonly #targets = new Map<Alias, Node>();
  readonly #anchors = new Map<string, Node>();
  readonly #budget: ValueBudget;

  constructor(
    source: Source,
    document: Document,
    expand: (text: string, pointer: string) => string,
    budget: ValueBudget,
  ) {
    this.#source = source;
    this.#document = document;
    this.#expand = expand;
    this.#budget = budget;
  }

  /** Undefined if the file holds more values than the maximum. */
  read(): unknown {
    const { contents } = this.#document;
    const start = contents?.range?.[0] ?? 0;
    const value = this.#value(contents, '', start, start);
    return this.#budget.left > 0 ? value : undefined;
  }

  /** An alias means the last anchor of its name before it. Most files have no alias at all. */
  #findTargets(): void {
    if (this.#found) return;
    this.#found = true;
    visit(this.#document, {
      Node: (_, node) => {
        if (isAlias(node)) {
          const target = this.#anchors.get(node.source);
          if (target) this.#targets.set(node, target);
        } else if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
      },
    });
  }

  #value(node: unknown, pointer: string, key: number, place?: number): unknown {
    const value = place ?? offsetOf(node, key);
    const from = this.#source;
    const mark: Mark = { key, value, written: undefined, text: undefined, expanded: false, from };
    from.note(pointer, mark);
    if (!this.#countable(value)) return null;
    if (isAlias(node)) {
      const target = this.#resolve(node);
      if (!target) this.#source.invalid_pointers.add(pointer);
      return target ? this.#value(target, pointer, key, value) : null;
    }
    if (isScalar(node) && node.tag === '!include') this.#source.invalid_pointers.add(pointer);
    if (isScalar(node)) return this.#scalar(node.value, node.source, pointer, mark);
    if (!isMap(node) && !isSeq(node)) return null;
    if (this.#open.has(node)) {
      this.#faultAt(value, 'endless_alias', 'a block cannot hold an alias of itself');
      this.#source.invalid_pointers.add(pointer);
      return null;
    }
    this.#open.add(node);
    const read = isMap(node) ? this.#map(node, pointer) : this.#list(node.items, pointer, value);
    this.#open.delete(node);
    return read;
  }

  #scalar(data: unknown, source: string | undefined, pointer: string, mark: Mark) {
    const written = source ?? String(data);
    mark.written = written;
    mark.text = written;
    if (typeof data !== 'string') {
      if (data === null || typeof data === 'number' || typeof data === 'boolean') return data;
      this.#faultAt(mark.value, 'bad_tag', `${quote(written)} has a tag that has no meaning here`);
      this.#source.invalid_pointers.add(pointer);
      return null;
    }
    if (!data.includes('${')) return data;
    mark.text = this.#expand(data, pointer);
    mark.expanded = true;
    return mark.text;
  }

  #list(items: readonly unknown[], pointer: string, place: number): unknown[] {
    return items.map((item, i) => this.#value(item, `${pointer}${join(i)}`, offsetOf(item, place)));
  }

  #map(map: YAMLMap, pointer: string): Record<string, unknown> {
    const read: Record<string, unknown> = {};
    for (const { name, key, value, whole } of this.#entries(map, pointer)) {
      const place = `${pointer}${join(name)}`;
      read[name] = this.#value(value, place, key);
      if (whole !== undefined) this.#reportCut(place, whole);
    }
    return read;
  }

  /** A block's own entries, then those of its merge keys that it does not have itself. */
  #entries(map: YAMLMap, pointer?: string): Iterable<Entry> {
    const own = new Map<string, Entry>();
    const merged: Entry[] = [];
    const start = offsetOf(map, 0);
    const { items } = map;
    const cut = new Set<Pair>();
    for (const [at, pair] of items.entries()) {
      if (cut.has(pair)) continue;
      const key = offsetOf(pair.key, start);
      const name = this.#name(pair.key, key);
      if (isScalar(pair.key) && pair.key.type === 'PLAIN' && name === '<<') {
        merged.push(...this.#merged(pair.value, key, pointer));
      } else if (name !== undefined) {
        const entry: Entry = { name, key, value: pair.value };
        const rests = map.flow === true ? restsOf(items, at) : [];
        if (rests.length > 0) {
          for (const rest of rests) cut.add(rest);
          entry.whole = [pair.value, ...rests.map((rest) => rest.key)].map(textOf).join(',');
        }
        this.#add(own, entry);
      } else if (pointer !== undefined && isMap(pair.key))
        this.#source.invalid_pointers.add(pointer);
    }
    for (const entry of merged) if (!own.has(entry.name)) own.set(entry.name, entry);
    return own.values();
  }

  #add(own: Map<string, Entry>, entry: Entry): void {
    const { name, key: offset } = entry;
    const first = own.get(name);
    if (first) this.duplicates.push({ name, offset, first: first.key });
    else own.set(name, entry);
  }

  #reportCut(pointer: string, whole: string): void {
    // `1,500` is 1500, and `1,5s` a duration with a fraction.
    const number = /[a-z]/i.test(whole) ? undefined : meantNumber(whole, false);
    const meant = number ?? whole.replace(',', '.');
    this.#source.fault(pointer, {
      code: 'cut_number',
      message: `${quote(whole)} is cut at its comma: between { and } a comma ends the value`,
      hint: `write ${meant}`,
    });
    this.#source.invalid_pointers.add(pointer);
  }

  #merged(value: unknown, place: number, pointer?: string): Entry[] {
    const node = isAlias(value) ? this.#resolve(value) : value;
    if (isSeq(node))
      return node.items.flatMap((item) => this.#merged(item, offsetOf(item, place), pointer));
    if (isMap(node) && !this.#open.has(node) && this.#countable(place)) {
      this.#open.add(node);
      const entries = [...this.#entries(node)];
      this.#open.delete(node);
      return entries;
    }
    // Its other keys are not missing: they are in the block that is meant.
    if (pointer !== undefined) this.#source.invalid_pointers.add(pointer);
    if (node !== undefined) {
      this.#findTargets();
      const name = [textOf(node)].find((one) => this.#anchors.has(one)) ?? 'NAME';
      const hint = `write <<: *${name}, where another block above begins with &${name}`;
      this.#faultAt(place, 'bad_merge', '"<<" can merge only other blocks', hint);
    }
    return [];
  }

  #name(key: unknown, place: number): string | undefined {
    const node = isAlias(key) ? this.#resolve(key) : key;
    const name = isScalar(node) ? (node.source ?? String(node.value)) : undefined;
    if (name !== undefined && name !== '__proto__') return name;
    const variable = templateVariable(node);
    if (variable !== undefined) {
      const message = 'nothing here fills in the {{ }} of a template';
      this.#faultAt(place, 'bad_key', message, `write "\${${variable}}"`);
      return undefined;
    }
    const shown = name === undefined ? 'a list or block' : quote(name);
    const hint = name === undefined ? 'put a text with braces or brackets in quotes' : 'rename it';
    this.#faultAt(place, 'bad_key', `${shown} cannot be a key`, hint);
    return undefined;
  }

  #resolve(alias: Alias): unknown {
    this.#findTargets();
    const node = this.#targets.get(alias);
    if (node) return node;
    const hint = this.#aliasHint(alias.source);
    const message = `the alias ${quote(alias.source)} has no anchor before it`;
    this.#faultAt(offsetOf(alias, 0), 'unknown_alias', message, hint);
    return undefined;
  }

  #aliasHint(name: string): string {
    const later = this.#anchors.get(name)?.range?.[0];
    if (later !== undefined) {
      const { line } = this.#source.placeOf(later);
      return `its anchor stands below, on line ${line}: move that up`;
    }
    const near = nearestWord(name, [...this.#anchors.keys()]);
    if (near !== undefined) return `did you mean ${quote(near)}?`;
    if (/[./:]/.test(name)) return `put a text that begins with * in quotes: '*${name}'`;
    return `write &${name} before it is used, in this same file: others are not searched`;
  }

  #countable(place: number): boolean {
    this.#budget.left--;
    if (this.#budget.left === 0) {
      this.#faultAt(place, 'too_large', `the file has more than ${MAX_VALUES} values`);
    }
    return this.#budget.left > 0;
  }

  #faultAt(offset: number, code: string, message: string, hint = ''): void {
    this.#source.faultAt(offset, { code, message, hint });
  }
}

/** An empty value has no place of its own: its key's place is used. */
function offsetOf(node: unknown, otherwise: number): number {
  if (isScalar(node) && node.source === '' && node.type === 'PLAIN') return otherwise;
  return isNode(node) ? (node.range?.[0] ?? otherwise) : otherwise;
}
