import type { ModelEntry } from '../schema-types/gateway.js';
import type { Model } from '../core/model.js';
import { aliasedIds } from './aliases.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';

type Entries = Readonly<Record<string, PartialLoad<ModelEntry> | undefined>>;
type Models = ReadonlyMap<string, Model>;

/** The models with the IDs of their fallback models, those of these too, in their order. */
export function withFallbacks(
  source: Source,
  entries: Entries,
  models: Models,
): Map<string, Model> {
  const aliased = aliasedIds(entries);
  const named = new Map(
    Object.entries(entries).map(([id, entry]) => [
      id,
      readNames(source, id, entry, aliased, models),
    ]),
  );
  return new Map(
    [...models].map(([id, model]) => {
      const fallback = followed(id, named);
      if (fallback.includes(id)) reportLoop(source, id);
      return [id, fallback.length === 0 ? model : { ...model, fallback }];
    }),
  );
}

function readNames(
  source: Source,
  id: string,
  entry: PartialLoad<ModelEntry> | undefined,
  aliased: ReadonlyMap<string, string>,
  models: Models,
): string[] {
  const own = models.get(id);
  return (entry?.fallback ?? []).flatMap((name, at) => {
    const place = `/models${join(id)}/fallback/${at}`;
    if (name === undefined || !own) return [];
    const target = aliased.get(name) ?? name;
    const other = models.get(target);
    if (!other) {
      const message = `no model is called ${source.word(place)}`;
      const ids = [...models.keys()].filter((one) => one !== id);
      source.fault(place, { code: 'unknown_model', message, hint: nameHint(name, ids) });
      return [];
    }
    checkFit(source, place, own, other);
    return [target];
  });
}

/** A fallback does all that its model does, so that no call fails for what it asks. */
function checkFit(source: Source, place: string, model: Model, other: Model): void {
  const lost = [...model.capabilities].filter((one) => !other.capabilities.has(one));
  const name = quote(other.id);
  const [most, least] = [model.limits.max_tokens ?? Infinity, other.limits.max_tokens ?? Infinity];
  const addFault = (message: string, hint: string) =>
    source.fault(place, { code: 'bad_fallback', message, hint });
  if (model.capabilities.has('video')) {
    addFault('a video task stays with its model', 'remove it, and add further upstreams');
  } else if (lost.length > 0) {
    addFault(
      `${name} does not do ${lost.join(', ')}`,
      `name a model that does, as ${quote(model.id)}`,
    );
  } else if (least < most) {
    const own = quote(model.id);
    const hint = `name another model, or write max_tokens: ${least} under limits of ${own}`;
    addFault(`${name} answers with at most ${least} tokens`, hint);
  }
}

/** The fallback models of a model and of these, each once. The model itself only in a loop. */
function followed(id: string, named: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Set<string>();
  const follow = (name: string): void => {
    for (const next of named.get(name) ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      follow(next);
    }
  };
  follow(id);
  return [...found];
}

function reportLoop(source: Source, id: string): void {
  const message = `the fallback of ${quote(id)} leads back to it`;
  const hint = 'remove one of the names: a fallback is tried after its model';
  source.fault(`/models${join(id)}/fallback`, { code: 'bad_fallback', message, hint, at: 'key' });
}
