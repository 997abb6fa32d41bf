import type { EndpointEntry, StageEntry } from '../core/configuration.js';
import type { ConfigFault } from '../core/config-fault.js';
import { fault } from './step.js';

/** The stages that keep texts from providers. */
const FILTERS = ['mask', 'deny'];

/** How many endpoints a message names. */
const NAMED = 3;

/**
 * Warns of a filter that stands at some endpoints only, while the same models answer without it at
 * others: clients of another format get around it.
 */
export function partialFilters(endpoints: readonly EndpointEntry[]): ConfigFault[] {
  return FILTERS.flatMap((name) => {
    const filtered = endpoints.filter((one) => entryOf(one, name));
    const [first] = filtered;
    const entry = first && entryOf(first, name);
    if (!first || !entry) return [];
    const works = new Set(filtered.map(workOf));
    const open = endpoints.filter((one) => !filtered.includes(one) && works.has(workOf(one)));
    if (open.length === 0) return [];
    const shown = open.slice(0, NAMED).map(({ method, path }) => `${method} ${path}`);
    const more = open.length > NAMED ? ` and ${open.length - NAMED} more` : '';
    const others = `${shown.join(', ')}${more}, where the same models answer`;
    const message = `stage "${name}" stands at "${first.name}", but not at ${others}`;
    const hint = `for all endpoints write it under "*": { after: { validate: [${name}: ...] } }`;
    return [{ ...fault(entry, 'partial_filter', message, hint), severity: 'warning' as const }];
  });
}

function entryOf({ stages }: EndpointEntry, name: string): StageEntry | undefined {
  return stages.find((one) => one.name === name);
}

/** The work of an endpoint: `chat` in all formats of chat. One without work is like no other. */
function workOf(endpoint: EndpointEntry): unknown {
  return entryOf(endpoint, 'transform')?.option ?? endpoint;
}
