import type { Store } from '../store/store-types.js';

/** Looks up names by ID, each once. An ID without one stands for itself. */
export function namesOf(store: Store): {
  account: (id: string) => Promise<string>;
  key: (id: string) => Promise<string | null>;
} {
  return {
    account: once(async (id) => (await store.account(id))?.name ?? id),
    key: once(async (id) => (await store.key(id))?.name ?? null),
  };
}

function once<T>(find: (id: string) => Promise<T>): (id: string) => Promise<T> {
  const found = new Map<string, Promise<T>>();
  return (id) => {
    const known = found.get(id) ?? find(id);
    found.set(id, known);
    return known;
  };
}
