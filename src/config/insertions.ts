import { isDeepStrictEqual } from 'node:util';
import type { EndpointEntry, StageEntry } from '../core/configuration.js';
import type { StageInsertions } from '../schema-types/gateway.js';
import { isRecord } from '../lib/objects.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';

/** The name for all endpoints. */
export const EVERY = '*';

const SIDES = ['before', 'after'] as const;

type Side = (typeof SIDES)[number];

/** An entry of `endpoints` that adds stages. */
interface Adding {
  readonly before?: PartialLoad<StageInsertions> | undefined;
  readonly after?: PartialLoad<StageInsertions> | undefined;
}

/** Stages to add on one side of the stage `beside`. */
interface Addition {
  side: Side;
  beside: string;
  stages: readonly StageEntry[];
}

/**
 * Adds the stages of `before` and `after`. Each list is added once: before the first stage of the
 * name, or after the last. The lists of `*` go to every endpoint that has the named stage, outside
 * of the endpoint's own.
 */
export function withInsertions(
  source: Source,
  endpoints: readonly EndpointEntry[],
  entries: Readonly<Record<string, Adding | string | undefined>>,
): EndpointEntry[] {
  const additions = new Map<string, Addition[]>();
  for (const [name, entry] of Object.entries(entries)) {
    if (typeof entry !== 'object') continue;
    const targets = endpoints.filter((one) => name === EVERY || one.name === name);
    const read = SIDES.flatMap((side) => readSide(source, name, side, entry[side]));
    additions.set(
      name,
      read.filter((addition) => checkBeside(source, name, addition, targets)),
    );
  }
  const every = additions.get(EVERY) ?? [];
  return endpoints.map((endpoint) => {
    const own = additions.get(endpoint.name) ?? [];
    if (own.length + every.length === 0) return endpoint;
    return { ...endpoint, stages: withStages(endpoint.stages, own, every) };
  });
}

function readSide(
  source: Source,
  name: string,
  side: Side,
  block: PartialLoad<StageInsertions> = {},
): Addition[] {
  return Object.entries(block).map(([beside, stages = []]) => {
    const pointer = join('endpoints', name, side, beside);
    const read = stages.flatMap((stage, i) => {
      if (stage === undefined || !isWhole(source, pointer + join(i), stage)) return [];
      return [stageAt(source, pointer + join(i), stage)];
    });
    return { side, beside, stages: read };
  });
}

/** Reports a neighbour, the stage under `before` or `after`, that no endpoint has. */
function checkBeside(
  source: Source,
  name: string,
  { side, beside }: Addition,
  targets: readonly EndpointEntry[],
): boolean {
  const known = [...new Set(targets.flatMap(({ stages }) => stages.map((stage) => stage.name)))];
  if (known.includes(beside) || targets.length === 0) return true;
  const which = name === EVERY ? 'no endpoint has the' : `the endpoint ${quote(name)} has no`;
  source.fault(join('endpoints', name, side, beside), {
    code: 'absent_stage',
    message: `${which} stage ${quote(beside)}, so nothing can be added ${side} it`,
    hint: nameHint(beside, known),
    at: 'key',
  });
  return false;
}

function withStages(
  stages: readonly StageEntry[],
  own: readonly Addition[],
  every: readonly Addition[],
): StageEntry[] {
  const first = (beside: string): number => stages.findIndex(({ name }) => name === beside);
  const last = (beside: string): number => stages.findLastIndex(({ name }) => name === beside);
  const added = (all: readonly Addition[], side: Side, at: number): StageEntry[] =>
    all.flatMap((one) => {
      const place = side === 'before' ? first(one.beside) : last(one.beside);
      return one.side === side && place === at ? one.stages : [];
    });
  return stages.flatMap((stage, at) => [
    ...added(every, 'before', at),
    ...added(own, 'before', at),
    stage,
    ...added(own, 'after', at),
    ...added(every, 'after', at),
  ]);
}

/** Whether nothing was cut from a stage. An option that breaks the schema is cut, with a fault. */
export function isWhole(source: Source, pointer: string, stage: string | object): boolean {
  return isDeepStrictEqual(stage, source.valueAt(pointer));
}

/** A stage of the file, with the places of its name and its option. */
export function stageAt(source: Source, pointer: string, stage: string | object): StageEntry {
  const read = readStage(stage, source.place(pointer));
  if (typeof stage === 'string') return read;
  const own = pointer + join(read.name);
  const paths = partsOf(read.option);
  const places = paths.map((path) => [path.join('/'), source.place(own + join(...path))] as const);
  return {
    ...read,
    option_place: source.place(own),
    ...(paths.length > 0 && { part_places: Object.fromEntries(places) }),
  };
}

/** The paths of the keys of a block, and of the items of its lists. */
function partsOf(option: unknown): string[][] {
  if (!isRecord(option)) return [];
  return Object.entries(option).flatMap(([key, value]) => {
    const items = Array.isArray(value) ? value.map((_, i) => [key, String(i)]) : [];
    return [[key], ...items];
  });
}

/** A stage as it is written: its name, or a block of its name and its option. */
export function readStage(stage: string | object, place: StageEntry['place']): StageEntry {
  if (typeof stage === 'string') return { name: stage, option: undefined, place };
  const [[name, option] = ['', undefined]] = Object.entries(stage);
  return { name, option, place };
}
