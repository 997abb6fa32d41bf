import type { EndpointEntry, StageEntry } from '../core/configuration.js';
import type { ConfigFault } from '../core/config-fault.js';
import type { Capability, Model } from '../core/model.js';
import { PERSONAL_DATA } from '../lib/personal-data.js';
import { fault } from './step.js';

/** The stages that keep texts from providers. */
const FILTERS = ['mask', 'deny'];

/** How many endpoints a message names. */
const NAMED = 3;

/**
 * Warns of a filter that stands at some endpoints only, while the same models answer without it at
 * others: clients of another format get around it. The same of one that stands only where no model
 * answers.
 */
export function partialFilters(
  endpoints: readonly EndpointEntry[],
  models: Iterable<Model>,
): ConfigFault[] {
  const served = new Set([...models].flatMap(({ capabilities }) => [...capabilities]));
  return FILTERS.flatMap((name) => {
    const filtered = endpoints.filter((one) => entryOf(one, name));
    const [first] = filtered;
    const entry = first && entryOf(first, name);
    if (!first || !entry) return [];
    const hint = `for all endpoints write it under "*": { after: { validate: [${name}: ...] } }`;
    const warn = (message: string): ConfigFault[] => [
      { ...fault(entry, 'partial_filter', message, hint), severity: 'warning' },
    ];
    if (filtered.every((one) => isIdle(one, served)))
      return warn(`stage "${name}" stands at "${first.name}", where no model of the file answers`);
    const works = new Set(filtered.map(workOf));
    const open = endpoints.filter((one) => !filtered.includes(one) && works.has(workOf(one)));
    if (open.length === 0) return [];
    const shown = open.slice(0, NAMED).map(({ method, path }) => `${method} ${path}`);
    const more = open.length > NAMED ? ` and ${open.length - NAMED} more` : '';
    const others = `${shown.join(', ')}${more}, where the same models answer`;
    return warn(`stage "${name}" stands at "${first.name}", but not at ${others}`);
  });
}

/** Warns of a pattern that is denied after it was masked: the text no longer has it. */
export function maskedBeforeDenied(endpoints: readonly EndpointEntry[]): ConfigFault[] {
  const found = new Map<StageEntry, ConfigFault>();
  for (const { stages } of endpoints) {
    const masked = new Set<string>();
    for (const entry of stages) {
      const patterns = patternsOf(entry);
      if (entry.name === 'mask') patterns.forEach((pattern) => masked.add(pattern));
      const hidden = patterns.findIndex((pattern) => masked.has(pattern));
      if (entry.name !== 'deny' || hidden < 0) continue;
      const message = `stage "deny" never finds ${patterns[hidden]}: "mask" has replaced it`;
      const place = entry.part_places?.[`patterns/${hidden}`];
      const told = fault(entry, 'masked_before', message, 'write deny before mask');
      found.set(entry, { ...told, ...place, severity: 'warning' });
    }
  }
  return [...found.values()];
}

/** The patterns that an entry names; `mask` without any looks for all. */
function patternsOf({ name, option }: StageEntry): string[] {
  if (!FILTERS.includes(name)) return [];
  const { patterns } = (option ?? {}) as { patterns?: string[] };
  return patterns ?? (name === 'mask' ? [...PERSONAL_DATA.keys()] : []);
}

function entryOf({ stages }: EndpointEntry, name: string): StageEntry | undefined {
  return stages.find((one) => one.name === name);
}

/** Whether an endpoint routes to models that the file does not have. */
function isIdle(endpoint: EndpointEntry, served: ReadonlySet<Capability>): boolean {
  const { capability } = (entryOf(endpoint, 'route')?.option ?? {}) as { capability?: Capability };
  return capability !== undefined && !served.has(capability);
}

/** The work of an endpoint: `chat` in all formats of chat. One without work is like no other. */
function workOf(endpoint: EndpointEntry): unknown {
  return entryOf(endpoint, 'transform')?.option ?? endpoint;
}
