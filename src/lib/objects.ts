/** Whether a value is an object in the sense of JSON: not null and not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; empty if the value is not a list. */
export function recordsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Whether a value has all of these methods. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  return isRecord(value) && names.every((name) => typeof value[name] === 'function');
}

/** Deletes the null fields of an object, except the field `kept`. Returns whether it had any. */
export function dropNulls(value: unknown, kept?: string): boolean {
  if (!isRecord(value)) return false;
  let isChanged = false;
  for (const name of Object.keys(value)) {
    if (value[name] !== null || name === kept) continue;
    delete value[name];
    isChanged = true;
  }
  return isChanged;
}

/** Caches the result of a function for each object, for as long as the object lives. */
export function memoizeByObject<Key extends object, Result>(
  compute: (key: Key) => Result,
): (key: Key) => Result {
  const cache = new WeakMap<Key, { result: Result }>();
  return (key) => {
    const known = cache.get(key);
    if (known) return known.result;
    const result = compute(key);
    cache.set(key, { result });
    return result;
  };
}

/** The list with each element changed, by what is given beside it; the list itself if none is. */
export function mapChanged<Item, Given extends unknown[] = []>(
  list: readonly Item[],
  change: (item: Item, ...given: Given) => Item,
  ...given: Given
): readonly Item[] {
  let made: Item[] | undefined;
  let at = 0;
  for (const item of list) {
    const changed = change(item, ...given);
    if (changed !== item) (made ??= [...list])[at] = changed;
    at += 1;
  }
  return made ?? list;
}

/** A message with its parts changed; the same one if none has. Its content may be a text. */
export function mapContent<Part, Message extends { content: string | Part[] }>(
  message: Message,
  change: (part: Part) => Part,
): Message {
  const { content } = message;
  if (typeof content === 'string') return message;
  const changed = mapChanged(content, change);
  return changed === content ? message : { ...message, content: [...changed] };
}
