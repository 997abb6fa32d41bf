import type { Configuration, EndpointEntry, StageEntry } from '../core/configuration.js';
import type { Capability } from '../core/model.js';
import { quote } from '../yaml/source.js';
import type { Advice, Warning } from './advice.js';

/** The stages that keep texts from providers. */
const FILTERS = ['mask', 'deny'];

/** How many endpoints a message names. */
const NAMED = 3;

/**
 * A filter that stands at some endpoints only, while the same models answer without it at others:
 * clients of another format get around it. The same of one that stands only where no model answers.
 */
export const partialFilter: Advice = {
  code: 'partial_filter',
  saves: 'personal data that would reach a provider, and money, past the filter',
  *check({ configuration }) {
    const { endpoints, models } = configuration;
    yield* unlimited(configuration);
    const served = new Set([...models.values()].flatMap(({ capabilities }) => [...capabilities]));
    for (const name of FILTERS) {
      const filtered = endpoints.filter((one) => entryOf(one, name));
      const [first] = filtered;
      const place = first && entryOf(first, name)?.place;
      if (!first || !place) continue;
      const works = new Set(filtered.map(workOf));
      const open = endpoints.filter((one) => !filtered.includes(one) && works.has(workOf(one)));
      const isIdle = filtered.every((one) => isUnserved(one, served));
      if (open.length === 0 && !isIdle) continue;
      const shown = open.slice(0, NAMED).map(({ method, path }) => `${method} ${path}`);
      const more = open.length > NAMED ? ` and ${open.length - NAMED} more` : '';
      const where = isIdle
        ? 'where no model of the file answers'
        : `but not at ${shown.join(', ')}${more}, where the same models answer`;
      yield {
        place,
        message: `stage "${name}" stands at "${first.name}", ${where}`,
        hint: `for all endpoints write it under "*": { after: { validate: [${name}: ...] } }`,
      };
    }
  },
};

/** Rates that do not hold at an endpoint which the file writes out itself, without `limit`. */
function* unlimited({ endpoints, models, rates }: Configuration): Generator<Warning> {
  const isRated = Object.keys(rates).length > 0 || [...models.values()].some((one) => one.rates);
  if (!isRated) return;
  for (const { name, stages } of endpoints) {
    const hold = stages.find((one) => one.name === 'balance' && one.option === undefined);
    if (!hold || stages.some((one) => one.name === 'limit')) continue;
    yield {
      place: hold.place,
      message: `endpoint ${quote(name)} has no stage "limit", so no rates hold there`,
      hint: 'put "limit" before "balance"',
    };
  }
}

function entryOf({ stages }: EndpointEntry, name: string): StageEntry | undefined {
  return stages.find((one) => one.name === name);
}

/** Whether an endpoint routes to models that the file does not have. */
function isUnserved(endpoint: EndpointEntry, served: ReadonlySet<Capability>): boolean {
  const { capability } = (entryOf(endpoint, 'route')?.option ?? {}) as { capability?: Capability };
  return capability !== undefined && !served.has(capability);
}

/** The work of an endpoint: `chat` in all formats of chat. One without work is like no other. */
function workOf(endpoint: EndpointEntry): unknown {
  return entryOf(endpoint, 'transform')?.option ?? endpoint;
}
