import type { Visitor } from '../types.js';

/** The visitor of a route that needs a session. */
export function signedIn(visitor: Visitor | undefined): Visitor {
  if (!visitor) throw new Error('The route lets strangers in.');
  return visitor;
}
