import { StoreError } from './store-error.js';

/**
 * Characters that nobody sees: controls, those that turn the direction of writing, those without
 * width, lone surrogates, and fillers. By them a name could look like another one.
 */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u3164\uFFA0]/u;

/** Throws `StoreError` for a name that is empty, or that holds what nobody sees. */
export function checkName(what: string, name: string): void {
  if (name.trim() === '') throw new StoreError(`${what} needs a name.`);
  if (!UNSEEN.test(name)) return;
  const unseen = 'control characters, direction marks or characters without width';
  throw new StoreError(`The name of ${what.toLowerCase()} cannot hold ${unseen}.`);
}
