import type { EndpointEntry, StageEntry } from '../core/configuration.js';
import { nearestWord } from '../yaml/did-you-mean.js';
import { readShippedSchema } from '../lib/schemas.js';
import { foreignKeyHint } from '../yaml/foreign-keys.js';
import { byPlace } from '../yaml/report.js';
import { isRecord } from '../lib/is-record.js';
import { type Money, type Need, type Shape, type Stage } from './stage.js';
import { OptionError } from '../core/errors.js';
import type { ConfigFault } from '../core/config-fault.js';

/**
 * The type checker for endpoints. Every fact that a stage needs must be given by an earlier stage,
 * each fact by one stage only. A stage that spends money needs a hold before it and a meter after
 * it.
 */
export function checkPipelines(
  endpoints: readonly EndpointEntry[],
  stages: ReadonlyMap<string, Stage>,
): ConfigFault[] {
  const found = new Map<string, { fault: ConfigFault; more: number }>();
  const givers = giversOf(endpoints, stages);
  for (const endpoint of endpoints) {
    for (const fault of inspectEndpoint(endpoint, stages, givers)) {
      // A fault of one line that is part of several endpoints is reported once.
      const { file, line, column } = fault;
      const words = fault.message.replace(`"${endpoint.name}"`, '');
      const key = [file, line, column, words].join('\n');
      const known = found.get(key);
      if (known) known.more += 1;
      else found.set(key, { fault, more: 0 });
    }
  }
  const all = [...found.values()];
  const late_faults = all.flatMap(({ fault }) => (fault.code === 'late_stage' ? fault : []));
  return all.flatMap(({ fault, more }) => {
    // A stage that is too late in some endpoints lacks its facts in others: one fault is enough.
    const isEcho = late_faults.some((one) => byPlace(one, fault) === 0);
    if (isEcho && fault.code === 'missing_fact') return [];
    if (more === 0) return fault;
    const others = more === 1 ? 'one more endpoint' : `${more} more endpoints`;
    return { ...fault, message: `${fault.message} (as in ${others})` };
  });
}

/** Maps a fact to a stage that gives it in some endpoint. */
type Givers = ReadonlyMap<string, string>;

function giversOf(endpoints: readonly EndpointEntry[], stages: ReadonlyMap<string, Stage>): Givers {
  const givers = new Map<string, string>();
  for (const endpoint of endpoints) {
    for (const entry of endpoint.stages) {
      const gives = readStep(entry, endpoint, stages, [])?.shape.gives ?? [];
      for (const need of gives) givers.set(factOf(need), givers.get(factOf(need)) ?? entry.name);
    }
  }
  return givers;
}

function inspectEndpoint(
  endpoint: EndpointEntry,
  stages: ReadonlyMap<string, Stage>,
  givers: Givers,
): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const given = new Map<string, Given>();
  const reported = new Set<string>();
  const steps: Step[] = [];
  for (const entry of endpoint.stages) {
    const step = readStep(entry, endpoint, stages, faults);
    // The stages after an unreadable one would only be reported for the facts that it did not give.
    if (!step) return faults;
    // Who spends without a hold is reported for that alone, and not for the fact as well.
    const isSpender = RULES[step.shape.money ?? 'holds']?.before === 'holds';
    if (isSpender && !given.has('hold')) reported.add('hold');
    faults.push(...missing(step, given, endpoint, { givers, reported }));
    faults.push(...repeated(step, given, endpoint));
    faults.push(...late(step, given, endpoint, givers));
    for (const need of step.shape.gives) given.set(factOf(need), { need, by: step.entry });
    steps.push(step);
  }
  return [...faults, ...moneyFaults(steps, endpoint)];
}

interface Step {
  entry: StageEntry;
  shape: Shape;
}

interface Given {
  need: Need;
  by: StageEntry;
}

function readStep(
  entry: StageEntry,
  endpoint: EndpointEntry,
  stages: ReadonlyMap<string, Stage>,
  faults: ConfigFault[],
): Step | undefined {
  const stage = stages.get(entry.name);
  if (!stage) {
    const message = `endpoint "${endpoint.name}" names the unknown stage "${entry.name}"`;
    faults.push(fault(entry, 'unknown_stage', message, stageHint(entry.name, [...stages.keys()])));
    return undefined;
  }
  try {
    const { shape } = stage;
    const read = typeof shape === 'function' ? shape(entry.option, endpoint) : shape;
    if (!isShape(read)) throw new OptionError('its shape must have the lists "needs" and "gives"');
    return { entry, shape: read };
  } catch (error) {
    const { message, choices } =
      error instanceof OptionError ? error : new OptionError(firstLine(error));
    const whole = `stage "${entry.name}" of endpoint "${endpoint.name}": ${message}`;
    const place = entry.option_place ?? entry.place;
    const hint = didYouMean(wordOf(entry.option), choices);
    faults.push({ ...fault(entry, 'stage_option', whole, hint), ...place });
    return undefined;
  }
}

/** An operator's own stage can return anything from `shape`. */
function isShape(shape: unknown): shape is Shape {
  if (!isRecord(shape)) return false;
  const { needs, gives, precedes = [] } = shape;
  return [needs, gives, precedes].every(
    (facts) => Array.isArray(facts) && facts.every((fact) => typeof fact === 'string'),
  );
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}

/** A missing fact is reported at the first stage that needs it. */
function missing(
  step: Step,
  given: ReadonlyMap<string, Given>,
  endpoint: EndpointEntry,
  { givers, reported }: { givers: Givers; reported: Set<string> },
): ConfigFault[] {
  return step.shape.needs.flatMap((need) => {
    const name = factOf(need);
    const found = given.get(name);
    const subject = `stage "${step.entry.name}" of endpoint "${endpoint.name}"`;
    if (!found) {
      if (reported.has(name)) return [];
      reported.add(name);
      const message = `${subject} needs the fact "${name}", which no earlier stage gives`;
      const giver = givers.get(name);
      const hint = giver === undefined ? '' : `put it after ${quoted(giver, endpoint)}`;
      return [fault(step.entry, 'missing_fact', message, hint)];
    }
    if (need === name || kindOf(need).split('|').includes(kindOf(found.need))) return [];
    const message =
      `${subject} needs the fact "${name}" of kind "${kindOf(need).replaceAll('|', '" or "')}", ` +
      `but stage "${found.by.name}" gives kind "${kindOf(found.need)}"`;
    return [fault(step.entry, 'wrong_fact', message, '')];
  });
}

/** The name of a stage for a hint; also says if the endpoint does not have that stage. */
function quoted(stage: string, { stages }: EndpointEntry): string {
  const isThere = stages.some(({ name }) => name === stage);
  return isThere ? `"${stage}"` : `"${stage}", which this endpoint lacks`;
}

function repeated(step: Step, given: Map<string, Given>, endpoint: EndpointEntry): ConfigFault[] {
  return step.shape.gives.flatMap((need) => {
    const before = given.get(factOf(need));
    if (!before) return [];
    const message =
      `stage "${step.entry.name}" of endpoint "${endpoint.name}" gives the fact ` +
      `"${factOf(need)}", which stage "${before.by.name}" has given already`;
    return [fault(step.entry, 'repeated_fact', message, 'remove one of the two')];
  });
}

function late(
  { entry, shape }: Step,
  given: Map<string, Given>,
  endpoint: EndpointEntry,
  givers: Givers,
): ConfigFault[] {
  const last = shape.needs.at(-1);
  const giver = last && givers.get(factOf(last));
  return (shape.precedes ?? []).flatMap((name) => {
    const found = given.get(name);
    if (!found) return [];
    const message =
      `stage "${entry.name}" of endpoint "${endpoint.name}" must precede the fact "${name}", ` +
      `which stage "${found.by.name}" has given already`;
    const hint =
      giver === undefined ? `put it before "${found.by.name}"` : `put it right after "${giver}"`;
    return [fault(entry, 'late_stage', message, hint)];
  });
}

/** The stages that must be before and after a stage that affects money. */
const RULES: Partial<Record<Money, { before?: Money; after?: Money }>> = {
  spends: { before: 'holds', after: 'settles' },
  'hands-over': { before: 'holds' },
  completes: { after: 'settles-task' },
};

function moneyFaults(steps: readonly Step[], endpoint: EndpointEntry): ConfigFault[] {
  return steps.flatMap((step, at) => {
    const { before, after } = RULES[step.shape.money ?? 'holds'] ?? {};
    const does = (money: Money | undefined) => (one: Step) => one.shape.money === money;
    return unguarded(step, endpoint, {
      before: before === undefined || steps.slice(0, at).some(does(before)),
      after: after === undefined || steps.slice(at).some(does(after)),
    });
  });
}

function unguarded(
  step: Step,
  endpoint: EndpointEntry,
  { before, after }: { before: boolean; after: boolean },
): ConfigFault[] {
  const subject = `stage "${step.entry.name}" of endpoint "${endpoint.name}" can spend money`;
  const faults: ConfigFault[] = [];
  if (!before) {
    const message = `${subject} without a hold: no stage "balance" stands before it`;
    faults.push(fault(step.entry, 'no_hold', message, 'put "balance" before it'));
  }
  if (!after) {
    const meter = step.shape.money === 'completes' ? 'meter: once' : 'meter';
    const message = `${subject} without being charged: no stage "${meter}" stands after it`;
    faults.push(fault(step.entry, 'no_meter', message, `put "${meter}" after it`));
  }
  return faults;
}

/** The first string of an option, for the suggestion. */
function wordOf(option: unknown): string {
  if (typeof option === 'string') return option;
  const values = typeof option === 'object' && option !== null ? Object.values(option) : [];
  return values.find((value) => typeof value === 'string') ?? '';
}

function factOf(need: Need): string {
  return need.split(':', 1)[0] ?? need;
}

function kindOf(need: Need): string {
  return need.slice(factOf(need).length + 1) || 'any';
}

const NO_RATES =
  'there is no limit by the minute: a key has one in dollars, tollgate key create --limit';

function stageHint(name: string, known: readonly string[]): string {
  if (name.includes('/') && !name.startsWith('@')) return `did you mean "./${name}"?`;
  if (/rate|throttle|rpm|tpm/i.test(name)) return NO_RATES;
  const settings: object = readShippedSchema('gateway')['properties'];
  if (Object.hasOwn(settings, name))
    return `it is a setting: ${name}: stands at the top of the file`;
  const foreign = foreignKeyHint(name, 'GatewayFile', undefined);
  if (foreign !== undefined && !foreign.includes('VALUE')) return foreign;
  const hint = didYouMean(name, known);
  const own = 'one of your own is written as a path, ./FILE.js, or is a package that is installed';
  return hint.startsWith('one of') ? `${hint}; ${own}` : hint;
}

function didYouMean(wrong: string, choices: readonly string[]): string {
  const near = nearestWord(wrong, choices);
  if (near !== undefined) return `did you mean "${near}"?`;
  return choices.length > 0 ? `one of ${choices.join(', ')}` : '';
}

function fault(entry: StageEntry, code: string, message: string, hint: string): ConfigFault {
  return { severity: 'error', code, ...entry.place, message, hint };
}
