import type { Visitor } from '../types.js';

/** The visitor of a route that only those reach who are signed in. */
export function signedIn(visitor: Visitor | undefined): Visitor {
  if (!visitor) throw new Error('The route lets strangers in.');
  return visitor;
}
