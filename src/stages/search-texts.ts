import { ClientDisconnected, GatewayError } from '../core/errors.js';
import { inTurns, type Steps } from '../lib/text-search.js';
import { longWorkTurns } from '../lib/event-loop-turns.js';
import type { Services } from '../pipeline/services.js';
import { fact, type Context } from '../pipeline/stage.js';

/** The time limit for one request: an operator's pattern may be slow, and a text very long. */
const MAX_MS = 5_000;

/** Searches a text and returns its replacement, which may be the text itself. */
export type Search = (text: string, field: string) => Steps<string>;

/**
 * Searches all texts of a request, each once. The search of a large body takes seconds, so it takes
 * turns with other requests. Throws `GatewayError` (400) if it takes too long, and any error of
 * `search`.
 */
export async function searchTexts(
  { state, res }: Context,
  search: Search,
  services: Pick<Services, 'eachText' | 'now'>,
): Promise<void> {
  const { eachText, now } = services;
  const request = fact(state, 'request');
  await request.texts?.unsealInTurns(request.sealed);
  const fields = new Map<string, string>();
  eachText(request, (text, field) => {
    if (!fields.has(text)) fields.set(text, field);
    return undefined;
  });
  const changed = new Map<string, string>();
  let searched = '';
  const all = function* (): Steps<void> {
    for (const [text, field] of fields) {
      searched = field;
      const replacement = yield* search(text, field);
      if (replacement !== text) changed.set(text, replacement);
      yield;
    }
  };
  await inTurns(all(), { turns: longWorkTurns, now }, (worked_ms) => {
    if (res.destroyed) throw new ClientDisconnected();
    if (worked_ms > MAX_MS) throw tooSlow(searched);
  });
  if (changed.size > 0) eachText(request, (text) => changed.get(text));
}

function tooSlow(field: string): GatewayError {
  const message = `${field} takes too long to be searched: send less text.`;
  return new GatewayError('invalid_request', message, { param: field });
}
