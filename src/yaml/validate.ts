import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { GatewayFile } from '../schema-types/gateway.js';
import type { ProviderManifest } from '../schema-types/provider.js';
import { compilerOfShipped, readShippedSchema } from '../lib/schemas.js';
import { explainAll } from './schema-errors.js';
import { segments, type Source } from './source.js';

/** Data of which the wrong parts have been cut out: anything may be missing, nothing is wrong. */
export type PartialLoad<T> = T extends readonly (infer Item)[]
  ? readonly (PartialLoad<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: PartialLoad<T[Key]> | undefined }
    : T;

interface Shapes {
  gateway: GatewayFile;
  provider: ProviderManifest;
}

const compiled = new Map<keyof Shapes, ValidateFunction>();

/**
 * Holds a file against its schema, tells all faults to its report, and answers what is left of it
 * without the faulty parts, so that the checks that follow can trust what they find.
 */
export function validate<Name extends keyof Shapes>(
  source: Source,
  name: Name,
): PartialLoad<Shapes[Name]> {
  let value = structuredClone(source.value);
  const check = compile(name);
  let errors = errorsOf(check, value);
  if (convert(source, value, errors)) errors = errorsOf(check, value);
  for (const { pointer, wrong } of explainAll(errors, source, check.schema)) {
    source.fault(pointer, wrong);
  }
  for (const error of errors) value = cut(value, error);
  for (const pointer of source.spoiled) replace(value, pointer, undefined);
  // The schema vouches for this: its types are made from it, and all that breaks it is gone.
  return value as PartialLoad<Shapes[Name]>;
}

function compile(name: keyof Shapes): ValidateFunction {
  const known = compiled.get(name);
  if (known) return known;
  const compiler = compilerOfShipped({ allErrors: true, verbose: true, allowUnionTypes: true });
  const check = compiler.compile(readShippedSchema(name));
  compiled.set(name, check);
  return check;
}

function errorsOf(check: ValidateFunction, value: unknown): ErrorObject[] {
  check(value);
  return check.errors ?? [];
}

/** An expanded `${PORT}` is text; where a number or true or false is wanted, it becomes that. */
function convert(source: Source, value: unknown, errors: readonly ErrorObject[]): boolean {
  let converted = false;
  for (const { keyword, instancePath, params } of errors) {
    const mark = source.marks.get(instancePath);
    if (keyword !== 'type' || !mark?.expanded || mark.text === undefined) continue;
    const plain = plainValue(mark.text, [params['type']].flat());
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

/** Faults that lie in what is absent or repeated leave nothing to cut. */
const NOTHING_TO_CUT = new Set(['required', 'minItems', 'uniqueItems']);

function cut(value: unknown, error: ErrorObject): unknown {
  const { keyword, instancePath, params, propertyName } = error;
  const extra: unknown = params['additionalProperty'] ?? params['propertyName'];
  // What is wrong about a name is told twice; only the telling that names it cuts it out.
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
  // In a list the others keep their places.
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
