import type { Encoded } from '../../core/provider.js';
import type { Upstream } from '../../core/model.js';
import type { ChatCall, ChatCodec } from './codec.js';
import { guardCost } from './cost-guard.js';
import { OwnStream, ownReply } from './own-reply.js';
import { ToolTranslation } from './tool-translation.js';

/** A call as its upstream may have it. */
interface Prepared {
  upstream: Upstream;
  call: ChatCall;
  /** Absent if the call has no tools, or the wire takes them as they are. */
  tools?: ToolTranslation;
  /** The names of the fields that were left out. */
  ignored: readonly string[];
}

const NOTHING: readonly string[] = [];

/**
 * A codec that gets each call as its upstream may have it, and whose answers are in the client's
 * own words. All that holds for every wire is done here, once, and each codec translates the rest.
 */
export function preparedCodec(codec: ChatCodec): ChatCodec {
  const known = new WeakMap<ChatCall, Prepared>();
  const prepare = (call: ChatCall, upstream: Upstream): Prepared => {
    if (isPlain(call)) return { upstream, call, ignored: NOTHING };
    const last = known.get(call);
    if (last?.upstream === upstream) return last;
    const prepared = prepareCall(call, upstream, codec);
    known.set(call, prepared);
    return prepared;
  };
  return {
    ...codec,
    encode: (call, upstream) => {
      const prepared = prepare(call, upstream);
      return withIgnored(codec.encode(prepared.call, upstream), prepared.ignored);
    },
    decode: (body, call, upstream) => {
      const { call: prepared, tools } = prepare(call, upstream);
      const reply = codec.decode(body, prepared, upstream);
      return tools ? ownReply(reply, tools) : reply;
    },
    decodeStream: (call, upstream, step) => {
      const { call: prepared, tools } = prepare(call, upstream);
      const decoder = codec.decodeStream(prepared, upstream);
      const read = step ? step(decoder, prepared) : decoder;
      return tools ? new OwnStream(read, tools) : read;
    },
  };
}

function prepareCall(call: ChatCall, upstream: Upstream, codec: ChatCodec): Prepared {
  const guarded = guardCost(call, upstream);
  const rules = codec.toolRules?.(guarded.call, upstream);
  if (!rules) return { upstream, ...guarded };
  const tools = new ToolTranslation(guarded.call, rules);
  return { upstream, call: tools.call, tools, ignored: [...guarded.ignored, ...tools.ignored] };
}

/** A call of plain texts alone has nothing to prepare. */
function isPlain({ is_plain, fields, original }: ChatCall): boolean {
  if (is_plain !== true || original) return false;
  const { tools, cache_control, response_format, service_tier } = fields;
  if (service_tier !== undefined) return false;
  return tools === undefined && cache_control === undefined && response_format === undefined;
}

/** A mark that the wire leaves out as a whole is named as a whole. */
function withIgnored(encoded: Encoded, names: readonly string[]): Encoded {
  const { ignored = [] } = encoded;
  const more = names.filter(
    (name) =>
      !ignored.some((other) => other === name || other.endsWith(name.replace(/\.\w+$/u, ''))),
  );
  return more.length === 0 ? encoded : { ...encoded, ignored: [...ignored, ...more] };
}
