import { explain } from '../http/body-schema.js';
import type { Capability, FieldsByWork } from '../core/model.js';
import { isRecord, memoizeByObject } from '../lib/objects.js';
import { compilerOf, VALIDATOR_OPTIONS } from '../lib/schemas.js';
import { propertiesOf } from '../pipeline/default-fields.js';
import type { Modalities, Modality } from '../pipeline/modality.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { checkHeld } from './fields.js';

type Fields = Readonly<Record<string, unknown>>;

interface Terms {
  capabilities: ReadonlySet<Capability>;
  passthrough: ReadonlySet<string>;
  modalities: Modalities;
}

/**
 * Checks a block `default`: each field must be one that a client could send to the model, so that
 * it can override the value.
 */
export function checkDefaults(source: Source, pointer: string, fields: Fields, terms: Terms): void {
  const works = worksOf(terms);
  const known = works.flatMap((modality) => [...knownFields(modality).keys()]);
  for (const [name, value] of Object.entries(fields)) {
    const place = pointer + join(name);
    if (checkHeld(source, place, { key: 'default', name, value }, terms.modalities)) continue;
    if (terms.passthrough.has(name)) continue;
    const schema = works.map((modality) => knownFields(modality).get(name)).find(Boolean);
    const complaint = schema && complaintOf(schema, name, value);
    if (complaint !== undefined) {
      const message = `default: ${complaint}`;
      source.fault(place, {
        code: 'bad_default',
        message,
        hint: 'write a value that clients may send',
      });
    }
    if (schema) continue;
    const message = `default: clients cannot send ${quote(name)} to this model`;
    const near = nameHint(name, known);
    const hint = `${near}; or write set, or name it under passthrough`;
    source.fault(place, { code: 'bad_default', message, hint, at: 'key' });
  }
}

/**
 * Checks the values that an upstream sets: a field that clients may send too has the type and the
 * range of its schema. Only plain values are compared, as a wire may have other objects and words.
 */
export function checkSet(source: Source, pointer: string, fields: Fields, terms: Terms): void {
  const works = worksOf(terms);
  for (const [name, value] of Object.entries(fields)) {
    const known = works.map((modality) => plainField(modality).get(name)).find(Boolean);
    const complaint = known && complaintOf(known, name, value);
    if (complaint === undefined || source.unread.has(pointer + join(name))) continue;
    const message = `set: ${complaint}`;
    const hint = 'write a value that the upstream takes, or leave it out';
    source.fault(pointer + join(name), { code: 'bad_set', message, hint });
  }
}

/** The fields with plain values; of a text only the type is known for every wire. */
const plainField = memoizeByObject((modality: Modality): ReadonlyMap<string, KnownField> => {
  const plain = [...knownFields(modality)].flatMap(
    ([name, { schema, $defs }]): [string, KnownField][] => {
      if (!isRecord(schema)) return [];
      const types = [schema.type].flat();
      const isPlain = types.every((type) => PLAIN.has(String(type)));
      if (!isPlain) return [];
      const kept = types.includes('string') ? { type: schema.type } : schema;
      return [[name, { schema: kept, $defs }]];
    },
  );
  return new Map(plain);
});

const PLAIN = new Set(['number', 'integer', 'boolean', 'string', 'null']);

/** The fields for each kind of work of the model; undefined without any. */
export function defaultsByWork(fields: Fields, terms: Terms): FieldsByWork | undefined {
  if (Object.keys(fields).length === 0) return undefined;
  const works = worksOf(terms).map((modality): [string, Fields] => {
    const known = knownFields(modality);
    const own = Object.entries(fields).filter(
      ([name]) => known.has(name) || terms.passthrough.has(name),
    );
    return [modality.name, Object.fromEntries(own)];
  });
  return Object.fromEntries(works);
}

function worksOf({ capabilities, modalities }: Terms): Modality[] {
  return [...modalities.values()].filter(({ name }) => capabilities.has(name));
}

/** A field as the schema of its format describes it. */
interface KnownField {
  schema: unknown;
  $defs: unknown;
}

const knownFields = memoizeByObject(
  ({ configuration }: Modality): ReadonlyMap<string, KnownField> => {
    const { default_schemas, held, undefaulted = [] } = configuration.fields;
    const all = default_schemas.flatMap((name) => [...propertiesOf(name)]);
    return new Map(all.filter(([name]) => ![...held, ...undefaulted].includes(name)));
  },
);

/** What is wrong with a value, in words; undefined if a client may send it. */
function complaintOf(
  { schema, $defs }: KnownField,
  name: string,
  value: unknown,
): string | undefined {
  const whole = { $defs, type: 'object', properties: { [name]: schema } };
  const validate = compilerOf(VALIDATOR_OPTIONS.body).compile(
    isRecord($defs) ? whole : { ...whole, $defs: {} },
  );
  if (validate({ [name]: value })) return undefined;
  return explain(validate.errors ?? []).message.replace(/\.$/u, '');
}
