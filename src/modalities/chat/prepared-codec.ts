import type { Encoded } from '../../core/provider.js';
import type { Upstream } from '../../core/model.js';
import type { ChatCall, ChatCodec } from './codec.js';
import { guardCost, type GuardedCall } from './cost-guard.js';

/**
 * A codec that gets each call as its upstream may have it. All that holds for every wire is done
 * here, once, and each codec translates the rest.
 */
export function preparedCodec(codec: ChatCodec): ChatCodec {
  const known = new WeakMap<ChatCall, { upstream: Upstream; prepared: GuardedCall }>();
  const prepare = (call: ChatCall, upstream: Upstream): GuardedCall => {
    const last = known.get(call);
    if (last?.upstream === upstream) return last.prepared;
    const prepared = guardCost(call, upstream);
    known.set(call, { upstream, prepared });
    return prepared;
  };
  return {
    ...codec,
    encode: (call, upstream) => {
      if (isPlain(call)) return codec.encode(call, upstream);
      const { call: prepared, ignored } = prepare(call, upstream);
      return withIgnored(codec.encode(prepared, upstream), ignored);
    },
    decode: (body, call, upstream) => codec.decode(body, prepare(call, upstream).call, upstream),
    decodeStream: (call, upstream) => codec.decodeStream(prepare(call, upstream).call, upstream),
  };
}

/** A call of plain texts alone has nothing to prepare. */
function isPlain({ is_plain, fields, original }: ChatCall): boolean {
  if (is_plain !== true || original) return false;
  return fields['tools'] === undefined && fields['cache_control'] === undefined;
}

/** A mark that the wire leaves out as a whole is named as a whole. */
function withIgnored(encoded: Encoded, names: readonly string[]): Encoded {
  const { ignored = [] } = encoded;
  const more = names.filter(
    (name) => !ignored.some((other) => other.endsWith(name.replace(/\.\w+$/u, ''))),
  );
  return more.length === 0 ? encoded : { ...encoded, ignored: [...ignored, ...more] };
}
