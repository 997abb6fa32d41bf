import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Upstream } from '../core/model.js';
import { isRecord } from '../lib/objects.js';

const CHANCE_BYTES = 6;
const CHANCES = 2 ** (8 * CHANCE_BYTES);

/** The number from 0 to 1, without 1, by which an upstream is drawn. */
export type ChanceOf = (upstream: Upstream) => number;

/**
 * Returns the order in which upstreams are tried: the order of the file, except that neighbours
 * with a `weight` share the load in proportion to it. Each upstream's place depends on its own
 * chance alone, so without one of them the others keep their order.
 */
export function orderByWeight(
  upstreams: readonly Upstream[],
  chanceOf: ChanceOf,
): readonly Upstream[] {
  if (upstreams.length === 1) return upstreams;
  const ordered: Upstream[] = [];
  for (let from = 0; from < upstreams.length;) {
    let to = from + 1;
    if (upstreams[from]?.weight !== undefined) {
      while (upstreams[to]?.weight !== undefined) to += 1;
    }
    ordered.push(...byWeight(upstreams.slice(from, to), chanceOf));
    from = to;
  }
  return ordered;
}

/** By exponential waits, of which each is the shortest as often as its weight says. */
function byWeight(group: readonly Upstream[], chanceOf: ChanceOf): readonly Upstream[] {
  if (group.length === 1) return group;
  const drawn = group.map((upstream) => ({
    upstream,
    wait: -Math.log(1 - chanceOf(upstream)) / (upstream.weight ?? 1),
  }));
  return drawn.toSorted((one, other) => one.wait - other.wait).map(({ upstream }) => upstream);
}

/** What tells the conversation of a call. */
export interface Conversation {
  account_id: string;
  /** The body and the headers, in which clients name their conversation. */
  body: object;
  headers: IncomingHttpHeaders;
  /** The text with which it begins, which tells it where the client names none. */
  beginning: () => string;
}

/**
 * Returns the chances of a conversation: the same for all of its calls, at every worker and box.
 * Nothing is computed before the first is asked for, as most models have one upstream.
 */
export function chancesOf({ account_id, body, headers, beginning }: Conversation): ChanceOf {
  let key: string | undefined;
  return ({ provider, model }) => {
    key ??= digestOf([account_id, nameIn(body, headers) ?? beginning()]).toString('base64');
    return digestOf([key, provider.name, model]).readUIntBE(0, CHANCE_BYTES) / CHANCES;
  };
}

function digestOf(parts: readonly string[]): Buffer {
  return createHash('sha256').update(parts.join('\0')).digest();
}

/** The headers in which coding agents name their session. */
const SESSION_HEADERS = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-affinity',
];
/** The session in the user's ID, as Claude Code writes it, now and before. */
const SESSION_OF_USER = /(?:"session_id"\s{0,9}:\s{0,9}"|_session_)([\w-]{1,100})/u;
const NAME_CHARACTERS = 256;
/** A longer ID of a user is read up to here. */
const USER_CHARACTERS = 1_000;

/** The client's own name of the conversation; undefined if it gives none. */
function nameIn(body: object, headers: IncomingHttpHeaders): string | undefined {
  const fields: Readonly<Record<string, unknown>> = { ...body };
  const names = [fields.prompt_cache_key, ...SESSION_HEADERS.map((name) => headers[name])];
  names.push(sessionOfUser(fields.metadata), fields.session_id);
  const name = names.find((one): one is string => typeof one === 'string' && one !== '');
  return name?.slice(0, NAME_CHARACTERS);
}

function sessionOfUser(metadata: unknown): string | undefined {
  const user_id = isRecord(metadata) ? metadata.user_id : undefined;
  if (typeof user_id !== 'string') return undefined;
  return SESSION_OF_USER.exec(user_id.slice(0, USER_CHARACTERS))?.[1];
}
