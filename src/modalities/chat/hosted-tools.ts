import { maxNano } from '../../lib/money.js';
import type { Model, Upstream } from '../../core/model.js';
import { toolPriceName, usesOfTool } from '../../core/server-tools.js';
import { recordsIn } from '../../lib/objects.js';
import type { ChatCall } from './codec.js';

/** The words by which a call leaves the tier to the upstream. */
const CHOOSES: ReadonlySet<string> = new Set(['auto', 'unspecified']);

/**
 * The service tier that a call asks an upstream for; undefined where the upstream may choose one.
 * What the operator sets comes before what the client says.
 */
export function askedTier({ fields }: ChatCall, { set, drop }: Upstream): string | undefined {
  const said = drop.includes('service_tier') ? undefined : fields.service_tier;
  const tier = set.service_tier ?? said;
  return typeof tier === 'string' && !CHOOSES.has(tier) ? tier : undefined;
}

/** How often a tool that an upstream runs may run, if neither request nor file says. */
export const DEFAULT_TOOL_CALLS = 10;

/** The fields beside `tools` that make upstreams search. */
const SEARCHES = ['web_search_options', 'search_parameters', 'plugins'];

/** The most that the tools which an upstream runs itself can cost in a call, at its prices. */
export function maxToolCost(
  { fields, max_tool_calls, n }: ChatCall,
  { limits }: Pick<Model, 'limits'>,
  { price: { per_tool_call }, set }: Upstream,
): bigint {
  if (!per_tool_call) return 0n;
  const most = max_tool_calls ?? limits.tool_calls ?? DEFAULT_TOOL_CALLS;
  const sent: Readonly<Record<string, unknown>> = { ...fields, ...set };
  const doesSearch = SEARCHES.some((name) => sent[name] !== undefined);
  let highest = doesSearch ? BigInt(most) * maxNano([...per_tool_call.values()]) : 0n;
  for (const tool of recordsIn(sent.tools)) {
    const nano = per_tool_call.get(toolPriceName(String(tool.type)));
    if (nano !== undefined) highest += BigInt(usesOfTool(tool, most)) * nano;
  }
  return BigInt(n) * highest;
}
