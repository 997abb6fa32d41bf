import { isRecord } from '../../src/lib/objects.js';
import type { Upstream } from '../../src/core/model.js';
import { claudeModel, type ClaudeModel } from './models.js';
import type { CacheControl } from './wire.js';

/** The model of a request, the flags of its provider, and the fields that were left out. */
export interface EncodeContext {
  model: ClaudeModel;
  /** The cache may be written for an hour, which costs more than for five minutes. */
  caches_hours: boolean;
  /** The features that are asked for by name; undefined where the wire takes none. */
  betas: Set<string> | undefined;
  ignored: Set<string>;
}

/** From this version on the API refuses sampling parameters for all models. */
const WITHOUT_SAMPLING = '2026-10-21';

/** The context of a call, with nothing left out yet. */
export function contextOf(
  { model: name, provider }: Upstream,
  betas?: readonly string[],
): EncodeContext {
  const model = claudeModel(name);
  const { sampling, schemas, cache_hour } = provider.wire;
  const version = provider.headers['anthropic-version'] ?? '';
  const takesSampling = typeof sampling === 'boolean' ? sampling : model.sampling;
  return {
    model: {
      ...model,
      sampling: takesSampling && version < WITHOUT_SAMPLING,
      schemas: model.schemas && schemas !== false,
    },
    caches_hours: cache_hour === true,
    betas: betas && new Set(betas),
    ignored: new Set(),
  };
}

/**
 * The client's mark that the cache may end here. A life of an hour is left out unless the manifest
 * takes it, because writing costs twice the input then, and a model has one price for it.
 */
export function cacheControl(
  { cache_control: given }: { cache_control?: unknown },
  { caches_hours, ignored }: EncodeContext,
): { cache_control?: CacheControl } {
  if (!isRecord(given)) return {};
  if (given['type'] !== 'ephemeral') {
    ignored.add('cache_control');
    return {};
  }
  const { ttl } = given;
  if (ttl === '5m' || (ttl === '1h' && caches_hours)) {
    return { cache_control: { type: 'ephemeral', ttl } };
  }
  if (ttl !== undefined) ignored.add('cache_control.ttl');
  return { cache_control: { type: 'ephemeral' } };
}
