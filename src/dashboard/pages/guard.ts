import type { Visitor } from '../types.js';

/** The visitor of a route that needs a session. */
export function requireSession(visitor: Visitor | undefined): Visitor {
  if (!visitor) throw new Error('The route lets a request in without a session.');
  return visitor;
}
