import type { ModelEntry } from '../schema-types/gateway.js';
import type { Model } from '../core/model.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { flow } from '../yaml/schema-walk.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';

type Entries = Readonly<Record<string, PartialLoad<ModelEntry> | undefined>>;

/** The entries of `models` that are no aliases. */
export function withoutAliases(source: Source, entries: Entries): Entries {
  return Object.fromEntries(Object.entries(entries).filter(([id]) => !isAlias(source, id)));
}

/** The IDs of the models that entries name by another name: an alias, or one of `as`. */
export function aliasedIds(entries: Entries): Map<string, string> {
  const ids = Object.entries(entries).flatMap(([id, entry]): [string, string][] =>
    entry?.alias === undefined ? [] : [[id, entry.alias]],
  );
  return new Map([...asNames(entries).map(({ id, name }) => [name, id] as const), ...ids]);
}

/** The models by their other names. Each name that is no model's or of two is a fault. */
export function readAliases(
  source: Source,
  entries: Entries,
  models: ReadonlyMap<string, Model>,
): Map<string, Model> {
  const aliases = Object.keys(entries).filter((id) => isAlias(source, id));
  const read = aliases.flatMap((id): [string, Model][] => {
    const name = entries[id]?.alias;
    checkAlone(source, id, name);
    const model = name === undefined ? undefined : models.get(name);
    if (model) return [[id, { ...model, alias: id }]];
    if (name !== undefined) reportTarget(source, id, name, entries);
    return [];
  });
  return new Map([...read, ...readAsNames(source, entries, models)]);
}

interface AsName {
  id: string;
  name: string;
  place: string;
}

function asNames(entries: Entries): AsName[] {
  return Object.entries(entries).flatMap(([id, entry]) => {
    const { as = [] } = entry ?? {};
    const place = `/models${join(id)}/as`;
    if (typeof as === 'string') return [{ id, name: as, place }];
    return as.flatMap((name, at) =>
      name === undefined ? [] : [{ id, name, place: `${place}/${at}` }],
    );
  });
}

function readAsNames(
  source: Source,
  entries: Entries,
  models: ReadonlyMap<string, Model>,
): Map<string, Model> {
  const read = new Map<string, Model>();
  for (const { id, name, place } of asNames(entries)) {
    const model = models.get(id);
    const other = read.get(name);
    if (Object.hasOwn(entries, name)) reportTaken(source, place, id === name ? id : undefined);
    else if (other) reportTaken(source, place, undefined, other.id);
    else if (model) read.set(name, { ...model, alias: name, is_as_name: true });
  }
  return read;
}

function reportTaken(source: Source, place: string, own?: string, other?: string): void {
  const is = own === undefined ? 'the name of another entry' : 'the ID of the model itself';
  source.fault(place, {
    code: 'bad_alias',
    message: `${source.word(place)} is ${other === undefined ? is : `a name of ${quote(other)}`}`,
    hint: own === undefined ? 'write a name that no other model has' : 'remove it',
  });
}

function isAlias(source: Source, id: string): boolean {
  return source.has(aliasOf(id));
}

function aliasOf(id: string): string {
  return `/models${join(id)}/alias`;
}

function checkAlone(source: Source, id: string, name = 'NAME'): void {
  const pointer = `/models${join(id)}`;
  const others = (source.keys(pointer) ?? []).filter((key) => key !== 'alias');
  const [first] = others;
  if (first === undefined) return;
  const isModel = others.includes('upstreams');
  const shown = source.hides(aliasOf(id)) ? 'NAME' : name;
  source.fault(`${pointer}/${first}`, {
    code: 'bad_alias',
    message: `${quote(id)} is an alias, which has no other keys`,
    hint: isModel
      ? `write the other name as an entry of its own: ${flow(shown)}: { alias: ${flow(id)} }`
      : `remove ${others.join(', ')}: its model has them`,
    at: 'key',
  });
}

function reportTarget(source: Source, id: string, name: string, entries: Entries): void {
  const place = aliasOf(id);
  if (source.keys('/models')?.includes(name) && isAlias(source, name)) {
    const target = entries[name]?.alias;
    const isLoop = target === undefined || isAlias(source, target);
    source.fault(place, {
      code: 'bad_alias',
      message: `${source.word(place)} is an alias itself`,
      hint:
        isLoop || source.hides(place) ? 'write the ID of a model' : `write alias: ${flow(target)}`,
    });
    return;
  }
  const named = asNames(entries).find((one) => one.name === name);
  if (named) {
    source.fault(place, {
      code: 'bad_alias',
      message: `${source.word(place)} is another name itself`,
      hint: `write alias: ${flow(named.id)}`,
    });
    return;
  }
  const ids = Object.keys(entries).filter((one) => !isAlias(source, one));
  const message = `no model is called ${source.word(place)}`;
  source.fault(place, { code: 'unknown_model', message, hint: nameHint(name, ids) });
}
