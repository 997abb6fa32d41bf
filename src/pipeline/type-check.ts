import type { EndpointEntry, StageEntry } from '../core/configuration.js';
import { byPlace } from '../yaml/report.js';
import { isRecord } from '../lib/objects.js';
import { moneyFaults, needsHold } from './money-check.js';
import type { Need, Shape, Stage } from './stage.js';
import { fault, subjectOf, traitsOf, type StageFault, type Step } from './step.js';
import { OptionError } from '../core/errors.js';
import type { ConfigFault } from '../core/config-fault.js';
import { didYouMean, entryText, stageHint, wordOf } from './stage-hints.js';

/**
 * The type checker for endpoints. Every fact that a stage needs must be given by an earlier stage,
 * each fact by one stage only. A stage that spends money needs a hold before it and a meter after
 * it.
 */
export function checkPipelines(
  endpoints: readonly EndpointEntry[],
  stages: ReadonlyMap<string, Stage>,
): ConfigFault[] {
  const found = new Map<string, { fault: StageFault; more: number }>();
  const known = knownOf(endpoints, stages);
  for (const endpoint of endpoints) {
    for (const fault of inspectEndpoint(endpoint, stages, known)) {
      // A fault of one line that is part of several endpoints is reported once.
      const { file, line, column, code, about } = fault;
      const key = [file, line, column, code, about].join('\n');
      const first = found.get(key);
      if (first) first.more += 1;
      else found.set(key, { fault, more: 0 });
    }
  }
  const all = [...found.values()];
  const late_faults = all.flatMap(({ fault }) => (fault.code === 'late_stage' ? fault : []));
  return all.flatMap(({ fault: found_fault, more }) => {
    const { severity, code, file, line, column, message, hint, of_all } = found_fault;
    const fault = { severity, code, file, line, column, message, hint };
    // A stage that is too late in some endpoints lacks its facts in others: one fault is enough.
    const isEcho = late_faults.some((one) => byPlace(one, fault) === 0);
    if (isEcho && fault.code === 'missing_fact') return [];
    if (more === 0) return fault;
    if (of_all !== undefined) return { ...fault, message: of_all };
    const others = more === 1 ? 'one more endpoint' : `${more} more endpoints`;
    return { ...fault, message: `${fault.message} (as in ${others})` };
  });
}

/** The endpoints of a valid file, with what their stages say of them. */
export function withTraits(
  endpoints: readonly EndpointEntry[],
  stages: ReadonlyMap<string, Stage>,
): EndpointEntry[] {
  return endpoints.map((endpoint) => {
    const steps = endpoint.stages.flatMap((one) => readStep(one, endpoint, stages, []) ?? []);
    return { ...endpoint, traits: traitsOf(steps.map(({ shape }) => shape)) };
  });
}

/** The stages of all endpoints, for hints. */
interface KnownStages {
  /** Maps a fact to a stage that gives it in some endpoint. */
  givers: ReadonlyMap<string, string>;
  steps: readonly Step[];
}

function knownOf(
  endpoints: readonly EndpointEntry[],
  stages: ReadonlyMap<string, Stage>,
): KnownStages {
  const steps = endpoints.flatMap((endpoint) =>
    endpoint.stages.flatMap((entry) => readStep(entry, endpoint, stages, []) ?? []),
  );
  const givers = new Map<string, string>();
  for (const { entry, shape } of steps) {
    for (const need of shape.gives) {
      givers.set(factOf(need), givers.get(factOf(need)) ?? entry.name);
    }
  }
  return { givers, steps };
}

function inspectEndpoint(
  endpoint: EndpointEntry,
  stages: ReadonlyMap<string, Stage>,
  known: KnownStages,
): StageFault[] {
  const faults: StageFault[] = [];
  const given = new Map<string, Given>();
  const reported = new Set<string>();
  const steps: Step[] = [];
  for (const entry of endpoint.stages) {
    const step = readStep(entry, endpoint, stages, faults);
    // The stages after an unreadable one would only be reported for the facts that it did not give.
    if (!step) return faults;
    // Who spends without a hold is reported for that alone, and not for the fact as well.
    if (needsHold(step.shape) && !given.has('hold')) reported.add('hold');
    faults.push(...missing(step, given, endpoint, { known, reported }));
    faults.push(...repeated(step, given, endpoint));
    faults.push(...late(step, given, endpoint, known));
    for (const need of step.shape.gives) given.set(factOf(need), { need, by: step.entry });
    steps.push(step);
  }
  const unpaid = moneyFaults(steps, endpoint);
  // A stage of another charge lacks the facts of that one, too.
  const own = faults.filter(
    (one) => !unpaid.some((other) => byPlace(one, other) === 0 && other.code === 'wrong_meter'),
  );
  return [...own, ...wrongKinds(steps, endpoint, known), ...unpaid];
}

interface Given {
  need: Need;
  by: StageEntry;
}

function readStep(
  entry: StageEntry,
  endpoint: EndpointEntry,
  stages: ReadonlyMap<string, Stage>,
  faults: StageFault[],
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
    const { message, choices, part } =
      error instanceof OptionError ? error : new OptionError(firstLine(error));
    const whole = `stage "${entry.name}" of endpoint "${endpoint.name}": ${message}`;
    // An option is wrong wherever its stage is added.
    const of_all = `stage "${entry.name}": ${message}`;
    const place = entry.part_places?.[part] ?? entry.option_place ?? entry.place;
    const hint = didYouMean(wordOf(entry.option), choices);
    faults.push({ ...fault(entry, 'stage_option', whole, hint, message), ...place, of_all });
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
  { known: { givers }, reported }: { known: KnownStages; reported: Set<string> },
): StageFault[] {
  const names = step.shape.needs.map(factOf).filter((one) => !given.has(one) && !reported.has(one));
  for (const name of names) reported.add(name);
  const subject = subjectOf(step, endpoint);
  const last = names.length > 1 ? lastGiver(names, givers, endpoint) : undefined;
  if (last !== undefined) {
    const facts = names.map((name) => `"${name}"`).join(', ');
    const message = `${subject} needs the facts ${facts}, which no earlier stage gives`;
    return [fault(step.entry, 'missing_fact', message, `put it after "${last}"`, facts)];
  }
  return names.map((name) => {
    const message = `${subject} needs the fact "${name}", which no earlier stage gives`;
    const giver = givers.get(name);
    const hint = giverHint(giver, step.entry, endpoint);
    return fault(step.entry, 'missing_fact', message, hint, name);
  });
}

/** The last stage of an endpoint that gives one of the facts, if its stages give all of them. */
function lastGiver(
  facts: readonly string[],
  givers: ReadonlyMap<string, string>,
  { stages }: EndpointEntry,
): string | undefined {
  const places = facts.map((one) => stages.findIndex(({ name }) => name === givers.get(one)));
  return places.includes(-1) ? undefined : stages[Math.max(...places)]?.name;
}

/** Reports the first stage whose facts are of another kind than its neighbours give and need. */
function wrongKinds(
  steps: readonly Step[],
  endpoint: EndpointEntry,
  known: KnownStages,
): StageFault[] {
  for (const [at, step] of steps.entries()) {
    for (const need of step.shape.needs) {
      const giver = giverIn(steps.slice(0, at), need);
      const given = giver?.shape.gives.find((one) => factOf(one) === factOf(need));
      if (!giver || given === undefined || kindOf(given) === 'any' || fits(need, given)) continue;
      const isGiverOdd = steps.slice(at + 1).some((later) => isServedBy(later, step));
      const [taker, kind] = [entryText(step.entry), kindOf(given)];
      if (isGiverOdd) {
        const gives = `${subjectOf(giver, endpoint)} gives "${kind}"`;
        const message = `${gives}, which "${taker}" cannot take`;
        const right = kindOf(need).split('|')[0] ?? '';
        return [fault(giver.entry, 'wrong_fact', message, `write ${giver.entry.name}: ${right}`)];
      }
      const from = `"${entryText(giver.entry)}"`;
      const message = `${subjectOf(step, endpoint)} cannot take "${kind}", which ${from} gives`;
      const other = known.steps.find(({ entry, shape }) => {
        return entry.name === step.entry.name && shape.needs.some((one) => isKind(one, given));
      });
      const hint = other ? `write ${entryText(other.entry)}` : '';
      return [fault(step.entry, 'wrong_fact', message, hint)];
    }
  }
  return [];
}

/** The last of some stages that gives a fact. */
function giverIn(steps: readonly Step[], need: Need): Step | undefined {
  return steps.findLast(({ shape }) => shape.gives.some((one) => factOf(one) === factOf(need)));
}

function fits(need: Need, given: Need): boolean {
  return need === factOf(need) || isKind(need, given);
}

/** Whether a need names the kind of a given fact. */
function isKind(need: Need, given: Need): boolean {
  const isSame = factOf(need) === factOf(given) && need !== factOf(need);
  return isSame && kindOf(need).split('|').includes(kindOf(given));
}

/** Whether a stage needs a fact of the very kind that an earlier one gives. */
function isServedBy(later: Step, earlier: Step): boolean {
  return later.shape.needs.some((need) => earlier.shape.gives.some((one) => isKind(need, one)));
}

/** The hint for a stage that comes before the one that gives a fact, or that lacks it. */
function giverHint(giver: string | undefined, entry: StageEntry, { stages }: EndpointEntry) {
  if (giver === undefined) return '';
  const isThere = stages.some(({ name }) => name === giver);
  const lacks = `this endpoint lacks the stage "${giver}": add it before "${entry.name}"`;
  return isThere ? `put it after "${giver}"` : lacks;
}

function repeated(step: Step, given: Map<string, Given>, endpoint: EndpointEntry): StageFault[] {
  return step.shape.gives.flatMap((need) => {
    const before = given.get(factOf(need));
    if (!before) return [];
    const message =
      `stage "${step.entry.name}" of endpoint "${endpoint.name}" gives the fact ` +
      `"${factOf(need)}", which stage "${before.by.name}" has given already`;
    return [fault(step.entry, 'repeated_fact', message, 'remove one of the two', need)];
  });
}

function late(
  { entry, shape }: Step,
  given: Map<string, Given>,
  endpoint: EndpointEntry,
  { givers }: KnownStages,
): StageFault[] {
  const last = shape.needs.at(-1);
  const giver = last && givers.get(factOf(last));
  return (shape.precedes ?? []).flatMap((name) => {
    const found = given.get(name);
    if (!found) return [];
    const message =
      `stage "${entry.name}" of endpoint "${endpoint.name}" comes too late: ` +
      `"${found.by.name}" has read the request before it`;
    const hint =
      giver === undefined ? `put it before "${found.by.name}"` : `put it right after "${giver}"`;
    return [fault(entry, 'late_stage', message, hint, name)];
  });
}

function factOf(need: Need): string {
  return need.split(':', 1)[0] ?? need;
}

function kindOf(need: Need): string {
  return need.slice(factOf(need).length + 1) || 'any';
}
