import { memoizeByObject } from '../lib/objects.js';
import { COSTLY, spelling } from '../core/costly-fields.js';
import type { Modalities } from '../pipeline/modality.js';
import { flow } from '../yaml/schema-walk.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { TOOL_TYPES } from './tool-types.js';

/** Other spellings of fields that the hold depends on. */
const HELD_ALIASES = ['max_output_tokens', 'best_of'];

/** All fields that the holds of these modalities depend on. */
const heldBy = memoizeByObject((modalities: Modalities) => [
  ...[...modalities.values()].flatMap((modality) => modality.configuration.fields.held),
  ...HELD_ALIASES,
]);

/** All fields of the requests of these modalities. */
const ownFields = memoizeByObject((modalities: Modalities) =>
  [...modalities.values()].flatMap((modality) => modality.configuration.fields.own),
);

/** Fields that decide the price, and that a request may leave out. */
const PRICED = ['n', 'max_tokens', 'size', 'quality'];

/** Fields without which an upstream would answer something else, or cost more than the hold. */
const NEEDED = ['model', 'messages', 'stream', 'max_tokens'];

/** Other spellings under which `max_tokens` may reach an upstream. */
const TOKEN_LIMITS = ['max_completion_tokens', 'max_output_tokens'];

/** The changes that an upstream entry or a manifest makes to a request's fields, in this order. */
export interface FieldChanges {
  drop: readonly (string | undefined)[];
  rename: Readonly<Record<string, string | undefined>>;
  set: Readonly<Record<string, unknown>>;
}

/**
 * A field may be passed through if it costs nothing and is not in the contract. No priced field may
 * be renamed to it: a client that leaves out the priced field could send this one.
 */
export function checkPassthrough(
  source: Source,
  pointer: string,
  fields: readonly (string | undefined)[],
  renames: readonly FieldChanges['rename'][],
  modalities: Modalities,
): void {
  if (fields.length === 0) return;
  const fieldsOf = [...modalities.values()].map((modality) => modality.configuration.fields);
  const known = fieldsOf.flatMap(({ own }) => own);
  const costly = new Set(
    [
      ...COSTLY,
      ...heldBy(modalities),
      ...fieldsOf.flatMap(({ refused }) => refused),
      ...renames.flatMap((rename) => PRICED.flatMap((from) => rename[from] ?? [])),
    ].map(spelling),
  );
  fields.forEach((field = '', i) => {
    if (field.includes('*')) {
      const message = `passthrough: ${quote(field)} is no pattern: * stands for itself`;
      const hint = 'write each field';
      source.fault(pointer + join(i), { code: 'bad_passthrough', message, hint });
    }
    if (TOOL_TYPES.includes(field)) {
      const message = `passthrough: ${quote(field)} is a type of tool, and no field of a request`;
      const hint = `write tool_types: [${field}]`;
      source.fault(pointer + join(i), { code: 'bad_passthrough', message, hint });
      return;
    }
    const own = known.includes(field);
    if (!own && !costly.has(spelling(field))) return;
    const why = own ? 'travels without being passed through' : 'could cost more than is held';
    const message = `passthrough: ${quote(field)} ${why}`;
    source.fault(pointer + join(i), { code: 'bad_passthrough', message, hint: 'remove it' });
  });
}

/**
 * `set`, `drop` and `rename` must not contradict each other, nor change fields that the hold
 * depends on. `passthrough` has the lists of the fields that reach the upstream beside those of the
 * contract.
 */
export function checkChanges(
  source: Source,
  pointer: string,
  changes: FieldChanges,
  modalities: Modalities,
  passthrough: readonly (readonly (string | undefined)[])[],
): void {
  const { set, drop, rename } = changes;
  if (drop.length + Object.keys(set).length + Object.keys(rename).length === 0) return;
  const held = heldBy(modalities);
  const known = [ownFields(modalities), ...passthrough];
  for (const [name, value] of Object.entries(set)) {
    checkHeld(source, `${pointer}/set${join(name)}`, { key: 'set', name, value }, modalities);
  }
  drop.forEach((field, i) => {
    if (field === undefined) return;
    if (!NEEDED.includes(field)) return;
    const message = `drop: a call cannot do without ${quote(field)}`;
    const other = 'for another spelling write rename: { max_tokens: max_completion_tokens }';
    const hint = field === 'max_tokens' ? `remove it: it bounds the cost; ${other}` : 'remove it';
    source.fault(`${pointer}/drop${join(i)}`, { code: 'bad_drop', message, hint });
  });
  checkRenames(source, pointer, changes, { held, known });
}

/** The limit of tokens that does what a value for the held field was meant to do. */
const LIMITS = { set: ['max_tokens', 'bounds answers'], default: ['default_max_tokens', 'is it'] };

/** Reports a field of `set` or `default` that the hold depends on, and returns whether it does. */
export function checkHeld(
  source: Source,
  place: string,
  { key, name, value }: { key: keyof typeof LIMITS; name: string; value: unknown },
  modalities: Modalities,
): boolean {
  if (!heldBy(modalities).includes(name)) return false;
  const message = `${key}: only the gateway sets ${quote(name)}`;
  const [limit, does] = LIMITS[key];
  const isLimit = [...TOKEN_LIMITS, 'max_tokens'].includes(name) && typeof value === 'number';
  const way = isLimit && !source.hides(place) && `limits: { ${limit}: ${value} } ${does}`;
  const hint = way ? `remove it; ${way}` : 'remove it';
  source.fault(place, { code: `bad_${key}`, message, hint, at: 'key' });
  return true;
}

function checkRenames(
  source: Source,
  pointer: string,
  { drop, rename }: FieldChanges,
  { held, known }: { held: readonly string[]; known: readonly (readonly (string | undefined)[])[] },
): void {
  const isKnown = (field: string): boolean => known.some((list) => list.includes(field));
  const taken = new Map<string, string>();
  for (const [from, to] of Object.entries(rename)) {
    if (to === undefined) continue;
    const place = `${pointer}/rename${join(from)}`;
    const addFault = (message: string, at: 'key' | 'value', hint = '') =>
      source.fault(place, { code: 'bad_rename', message: `rename: ${message}`, at, hint });
    // Neither clients nor the gateway send it, but they do send the other one.
    const isTurned = !isKnown(from) && isKnown(to);
    const other = taken.get(to);
    const word = source.word(place);
    if (from === to) addFault(`${quote(from)} is renamed to itself`, 'value');
    else if (drop.includes(from)) addFault(`${quote(from)} is dropped before it is renamed`, 'key');
    else if (drop.includes(to)) addFault(`${word} is also in drop`, 'value');
    else if (other) addFault(`${quote(other)} and ${quote(from)} both become ${word}`, 'value');
    else if (held.includes(to) && !(from === 'max_tokens' && TOKEN_LIMITS.includes(to))) {
      const mayBeTurned = isTurned || TOKEN_LIMITS.includes(from);
      addFault(`only the gateway sets ${word}`, 'value', mayBeTurned ? turnedHint(from, to) : '');
    } else if (from !== 'max_tokens' && NEEDED.includes(from)) {
      addFault(`a call cannot do without ${quote(from)}`, 'key');
    }
    taken.set(to, from);
  }
}

function turnedHint(from: string, to: string): string {
  return `write { ${flow(to)}: ${flow(from)} }: the name that clients use stands first`;
}
