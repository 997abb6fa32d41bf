import { GROUPINGS, type Grouping } from '../../actions/usage-groups.js';
import { MEASURES, type Measure } from './series.js';

export interface UsageQuery {
  from?: string;
  to?: string;
  model?: string;
  key?: string;
  agent?: string;
  by: Grouping;
  show: Measure;
}

type Query = Readonly<Record<string, string | string[] | undefined>>;

/** The filter of a usage page. An empty or unknown value counts as absent. */
export function readUsageQuery(query: Query): UsageQuery {
  const word = (name: string): string | undefined => {
    const value = query[name];
    return typeof value === 'string' && value !== '' && value.length <= 256 ? value : undefined;
  };
  const read: UsageQuery = {
    by: GROUPINGS.find((by) => by === word('by')) ?? 'day',
    show: MEASURES.find((show) => show === word('show')) ?? 'spend',
  };
  for (const name of ['from', 'to', 'model', 'key', 'agent'] as const) {
    const value = word(name);
    if (value !== undefined) read[name] = value;
  }
  return read;
}

/** Whether it asks for some calls of its days. */
export function isFiltered({ model, key, agent }: UsageQuery): boolean {
  return [model, key, agent].some((one) => one !== undefined);
}

/** The address of the filter with some values changed. */
export function usagePath(path: string, query: UsageQuery, change: Record<string, string>): string {
  const words = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  );
  for (const [name, value] of Object.entries(change)) words.set(name, value);
  return `${path}?${words.toString()}`;
}

/** The path of the same days as CSV, which knows nothing of charts. */
export function csvPath(query: UsageQuery, path = '/api/usage'): string {
  const words = new URLSearchParams(Object.entries({ ...query, format: 'csv' }));
  words.delete('show');
  return `${path}?${words.toString()}`;
}
