/** One sample of a scrape. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Scrape {
  samples: readonly Sample[];
  /** The type of each metric by its name: counter, gauge, histogram. */
  types: ReadonlyMap<string, string>;
  /** The sum of the samples of that name that have these labels; undefined where there is none. */
  sum(name: string, labels?: Record<string, string>): number | undefined;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/u;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(,|\})/u;
const NUMBER = /^ ([+-]?(?:Inf|\d+(?:\.\d+)?(?:e[+-]?\d+)?)|Na[nN])$/u;
const TYPES = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped']);

/** Reads the text format 0.0.4 of Prometheus, and throws at any line that is not of it. */
export function parseScrape(text: string): Scrape {
  if (!text.endsWith('\n')) throw new Error('The last line has no end.');
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue;
    if (line.startsWith('# TYPE ')) readType(line, types);
    else {
      const sample = readSample(line);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels)]);
      if (seen.has(key)) throw new Error(`Twice the same: ${line}`);
      seen.add(key);
      const base = sample.name.replace(/_(bucket|sum|count)$/u, '');
      const isTyped = types.has(sample.name) || types.get(base) === 'histogram';
      if (!isTyped) throw new Error(`No type comes before: ${line}`);
      samples.push(sample);
    }
  }
  return {
    samples,
    types,
    sum: (name, labels = {}) => {
      const found = samples.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

function readType(line: string, types: Map<string, string>): void {
  const [, , name = '', type = '', ...more] = line.split(' ');
  if (NAME.exec(name)?.[0] !== name || !TYPES.has(type) || more.length > 0) {
    throw new Error(`Not a type: ${line}`);
  }
  if (types.has(name)) throw new Error(`Two types: ${line}`);
  types.set(name, type);
}

function readSample(line: string): Sample {
  const name = NAME.exec(line)?.[0] ?? '';
  const labels: Record<string, string> = {};
  let rest = line.slice(name.length);
  if (rest.startsWith('{')) {
    rest = rest.slice(1);
    for (let isMore = true; isMore;) {
      const [whole = '', label = '', value = '', end] = LABEL.exec(rest) ?? [];
      if (whole === '' || label in labels) throw new Error(`Not a sample: ${line}`);
      labels[label] = value.replaceAll(/\\(.)/gu, (_, one: string) => (one === 'n' ? '\n' : one));
      rest = rest.slice(whole.length);
      isMore = end === ',';
    }
  }
  const number = NUMBER.exec(rest)?.[1];
  if (name === '' || number === undefined) throw new Error(`Not a sample: ${line}`);
  return { name, labels, value: Number(number.replace('Inf', 'Infinity')) };
}

export async function scrape(url: string): Promise<Scrape> {
  const answer = await fetch(url);
  const type = answer.headers.get('content-type') ?? '';
  if (answer.status !== 200 || !type.startsWith('text/plain; version=0.0.4')) {
    throw new Error(`${answer.status} ${type}: ${await answer.text()}`);
  }
  return parseScrape(await answer.text());
}
