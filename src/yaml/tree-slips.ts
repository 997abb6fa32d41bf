import { isMap, isNode, isScalar, type Pair } from 'yaml';

/**
 * The keys that commas have cut from the number of an entry: `{ total: 1,5s }` has the entry `1`
 * and the key `5s` right behind the comma.
 */
export function restsOf(items: readonly Pair[], at: number): Pair[] {
  const value = items[at]?.value;
  if (!isScalar(value) || !/^\d+$/.test(textOf(value))) return [];
  const rests: Pair[] = [];
  let end = value.range?.[1] ?? NaN;
  for (let next = at + 1; next < items.length; next += 1) {
    const pair = items[next] as Pair;
    const { key, value: inner } = pair;
    const isAlone = !isNode(inner) || (isScalar(inner) && textOf(inner) === '');
    const isRest = isScalar(key) && /^\d[\w.]*$/.test(textOf(key)) && isAlone;
    if (!isRest || key.range?.[0] !== end + 1) break;
    rests.push(pair);
    end = key.range[1];
  }
  return rests;
}

/** The characters of a plain value; empty for any other node. */
export function textOf(node: unknown): string {
  return isScalar(node) ? (node.source ?? '') : '';
}

/** The variable in a `{{NAME}}` of templates, which to YAML is a block as a key. */
export function templateVariable(node: unknown): string | undefined {
  const inner: unknown = isMap(node) && node.items.length === 1 ? node.items[0]?.key : undefined;
  return /^(?:\.?env\.|secrets\.|vars\.)?([A-Z][A-Z0-9_]*)$/iu.exec(textOf(inner))?.[1];
}
