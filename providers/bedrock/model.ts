import { cacheControl, contextOf, type EncodeContext } from '../anthropic/context.js';
import { isClaude, type ClaudeModel } from '../anthropic/models.js';
import type { MarkPlaces } from '../../src/modalities/chat/codec.js';
import type { Upstream } from '../../src/core/model.js';

/** `profile` is a name of the operator's own, such as an application inference profile. */
export type Family = 'claude' | 'nova' | 'nova-2' | 'gpt-oss' | 'llama' | 'profile' | 'other';

/** The model of a request, its differences, and the fields that were left out. */
export interface Target extends EncodeContext {
  family: Family;
  /** Whether marks of where a prompt may be cached are taken in messages, and behind tools. */
  caches: { messages: boolean; tools: boolean };
  /** Whether images and documents are taken inside the result of a tool. */
  media_results: boolean;
}

/** Differences of other makers' models from the rules in `anthropic/models.ts`. */
const DIFFERENCES: Readonly<Partial<Record<Family, Partial<ClaudeModel>>>> = {
  'gpt-oss': { schemas: true },
  llama: { forced_tools: false },
  profile: { schemas: true },
  other: { schemas: true },
};

/** These know no marks for the cache. */
const OLD_CLAUDE = /claude-(v\d|instant|3-(opus|sonnet|haiku))/u;

/** The model of an upstream, by the maker that its name or ARN names. */
export function targetOf(upstream: Upstream): Target {
  const context = contextOf(upstream);
  const family = familyOf(upstream.model.toLowerCase());
  const cachesAll =
    family === 'profile' || (family === 'claude' && !OLD_CLAUDE.test(upstream.model));
  const caches = { messages: cachesAll || family.startsWith('nova'), tools: cachesAll };
  const model = { ...context.model, ...DIFFERENCES[family] };
  if (upstream.provider.wire.schemas === false) model.schemas = false;
  const media_results = family === 'claude' || family.startsWith('nova');
  return { ...context, family, caches, media_results, model };
}

function familyOf(name: string): Family {
  if (isClaude(name)) return 'claude';
  if (name.includes('amazon.nova')) return /nova-\d-/u.test(name) ? 'nova-2' : 'nova';
  if (name.includes('gpt-oss')) return 'gpt-oss';
  if (name.includes('llama')) return 'llama';
  return name.startsWith('arn:') && !name.includes('foundation-model/') ? 'profile' : 'other';
}

/** Where Converse takes cache points for the model of an upstream; undefined where nowhere. */
export function cacheMarks(upstream: Upstream): MarkPlaces | undefined {
  const { messages, tools } = targetOf(upstream).caches;
  return messages ? { tools } : undefined;
}

/** A cache point, where a part of the request is marked for the cache and the model knows marks. */
export function cachePoints(
  marked: { cache_control?: unknown },
  { caches, ...context }: Target,
  place: keyof Target['caches'],
): Record<string, unknown>[] {
  const { cache_control } = cacheControl(marked, context);
  if (!cache_control) return [];
  if (!caches[place]) {
    context.ignored.add('cache_control');
    return [];
  }
  const { ttl } = cache_control;
  return [{ cachePoint: { type: 'default', ...(ttl && { ttl }) } }];
}
