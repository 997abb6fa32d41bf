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

/** The models by their aliases. Each alias that names no model is a fault. */
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
  return new Map(read);
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
  const ids = Object.keys(entries).filter((one) => !isAlias(source, one));
  const message = `no model is called ${source.word(place)}`;
  source.fault(place, { code: 'unknown_model', message, hint: nameHint(name, ids) });
}
