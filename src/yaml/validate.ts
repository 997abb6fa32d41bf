import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { GatewayFile } from '../schema-types/gateway.js';
import type { PriceBounds } from '../schema-types/price-bounds.js';
import type { ListPrices } from '../schema-types/prices.js';
import type { ProviderManifest } from '../schema-types/provider.js';
import { fileSchema, shippedSchemaText, validatorOfShipped } from '../lib/schemas.js';
import { isRecord } from '../lib/objects.js';
import { misplaced } from './misplaced.js';
import { explainAll } from './schema-errors.js';
import { segments, type Source } from './source.js';

/** Data without its faulty parts: anything may be missing, nothing is invalid. */
export type PartialLoad<T> = T extends readonly (infer Item)[]
  ? readonly (PartialLoad<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: PartialLoad<T[Key]> | undefined }
    : T;

interface Shapes {
  gateway: GatewayFile;
  provider: ProviderManifest;
  prices: ListPrices;
  'price-bounds': PriceBounds;
}

/**
 * Validates a file against its schema, reports all faults, and returns the data without the faulty
 * parts, so that later checks can trust it.
 */
export function validate<Name extends keyof Shapes>(
  source: Source,
  name: Name,
): PartialLoad<Shapes[Name]> {
  const check = validatorOfShipped(name, 'file');
  let errors = errorsOf(check, source.value);
  // Most files are valid, and copying a long one takes as long as its validation.
  if (errors.length === 0 && source.invalid_pointers.size === 0) {
    return source.value as PartialLoad<Shapes[Name]>;
  }
  let value = structuredClone(source.value);
  if (convert(source, value, errors)) errors = errorsOf(check, value);
  const explained =
    errors.length > 0 ? explainAll(errors, source, fileSchema(shippedSchemaText(name))) : [];
  for (const { pointer, wrong, stands } of explained) {
    // A text cannot be a block or a list, whatever its variables stand for.
    if (stands && source.unread.has(pointer)) source.faultAsWritten(pointer, wrong);
    else source.fault(pointer, wrong);
  }
  for (const error of errors) value = cut(value, error);
  for (const { pointer } of misplaced(source)) replace(value, pointer, undefined);
  for (const pointer of source.invalid_pointers) replace(value, pointer, undefined);
  // The types are generated from the schema, and every part that breaks it has been removed.
  return value as PartialLoad<Shapes[Name]>;
}

function errorsOf(check: ValidateFunction, value: unknown): ErrorObject[] {
  check(value);
  return (check.errors ?? []).filter((error) => !isOfAlias(error));
}

/** Whether a key is missing in an entry that is only another name for one that has it. */
function isOfAlias({ keyword, data, parentSchema }: ErrorObject): boolean {
  const keys: unknown = parentSchema?.properties;
  const hasAlias = isRecord(keys) && 'alias' in keys;
  return keyword === 'required' && hasAlias && isRecord(data) && 'alias' in data;
}

/** An expanded `${PORT}` is text: it becomes a number or a boolean if the schema wants one. */
function convert(source: Source, value: unknown, errors: readonly ErrorObject[]): boolean {
  let converted = false;
  for (const { keyword, instancePath, params } of errors) {
    const mark = source.mark(instancePath);
    if (keyword !== 'type' || !mark?.expanded || mark.text === undefined) continue;
    const plain = plainValue(mark.text, [params.type].flat());
    if (plain === undefined) continue;
    replace(value, instancePath, plain);
    converted = true;
  }
  return converted;
}

function plainValue(text: string, types: readonly unknown[]): number | boolean | undefined {
  const number = types.includes('number') || types.includes('integer');
  if (number && /^-?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true';
  return undefined;
}

/** A missing or repeated value leaves nothing to remove. */
const NOTHING_TO_CUT = new Set(['required', 'dependentRequired', 'minItems', 'uniqueItems']);

function cut(value: unknown, error: ErrorObject): unknown {
  const { keyword, instancePath, params, propertyName } = error;
  const extra: unknown = params.additionalProperty ?? params.propertyName;
  // A wrong name gives two errors. Only the error of its own keyword removes it.
  const inner = propertyName !== undefined && keyword !== 'propertyNames';
  if (NOTHING_TO_CUT.has(keyword) || inner) return value;
  if (typeof extra === 'string') remove(at(value, segments(instancePath)), extra);
  else if (instancePath === '') return {};
  else replace(value, instancePath, undefined);
  return value;
}

function replace(value: unknown, pointer: string, by: unknown): void {
  const path = segments(pointer);
  const last = path.pop();
  const parent = at(value, path);
  if (last === undefined) return;
  // The other items of a list keep their index.
  if (Array.isArray(parent)) parent[Number(last)] = by;
  else if (by === undefined) remove(parent, last);
  else if (typeof parent === 'object' && parent !== null) Reflect.set(parent, last, by);
}

function remove(parent: unknown, key: string): void {
  if (typeof parent === 'object' && parent !== null) Reflect.deleteProperty(parent, key);
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined,
    value,
  );
}
