import { JsonTexts } from '../../src/lib/json-text.js';
import { isRecord } from '../../src/lib/objects.js';
import type { Upstream } from '../../src/core/model.js';
import { claudeModel, type ClaudeModel } from './models.js';
import type { CacheControl } from './wire.js';

/** The model of a request, the flags of its provider, and the fields that were left out. */
export interface EncodeContext {
  model: ClaudeModel;
  /** The features that are asked for by name; undefined where the wire takes none. */
  betas: Set<string> | undefined;
  ignored: Set<string>;
  texts: JsonTexts;
}

/** From this version on the API refuses sampling parameters for all models. */
const WITHOUT_SAMPLING = '2026-10-21';

/** The context of a call, with nothing left out yet. */
export function contextOf(
  { model: name, provider }: Upstream,
  betas?: readonly string[],
): EncodeContext {
  const model = claudeModel(name);
  const { sampling, schemas } = provider.wire;
  const version = provider.headers['anthropic-version'] ?? '';
  const takesSampling = typeof sampling === 'boolean' ? sampling : model.sampling;
  return {
    model: {
      ...model,
      sampling: takesSampling && version < WITHOUT_SAMPLING,
      schemas: model.schemas && schemas !== false,
    },
    betas: betas && new Set(betas),
    ignored: new Set(),
    texts: new JsonTexts(),
  };
}

/** The client's mark that the cache may end here. */
export function cacheControl(
  { cache_control: given }: { cache_control?: unknown },
  { ignored }: Pick<EncodeContext, 'ignored'>,
): { cache_control?: CacheControl } {
  if (!isRecord(given)) return {};
  const { type, ttl } = given;
  if (type === 'ephemeral') {
    return { cache_control: { type, ...((ttl === '5m' || ttl === '1h') && { ttl }) } };
  }
  ignored.add('cache_control');
  return {};
}
