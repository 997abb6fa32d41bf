import type { EndpointEntry } from '../core/configuration.js';
import type { Money, Shape } from './stage.js';
import { entryText } from './stage-hints.js';
import { fault, subjectOf, type StageFault, type Step } from './step.js';

/** The stages that must be before and after a stage that affects money. */
const RULES: Partial<Record<Money, { before?: Money; after?: Money }>> = {
  spends: { before: 'holds', after: 'charges' },
  'hands-over': { before: 'holds' },
  completes: { after: 'charges-task' },
};

/** Whether a stage needs a hold before it. */
export function needsHold({ money = 'holds' }: Shape): boolean {
  return RULES[money]?.before === 'holds';
}

/** Reports stages that spend money without a hold, or without being charged. */
export function moneyFaults(steps: readonly Step[], endpoint: EndpointEntry): StageFault[] {
  return steps.flatMap((step, at) => {
    const { before, after } = RULES[step.shape.money ?? 'holds'] ?? {};
    const does = (money: Money | undefined) => (one: Step) => one.shape.money === money;
    return unguarded(step, endpoint, {
      before: before === undefined || steps.slice(0, at).some(does(before)),
      // One that stands too early lacks its facts, and is reported for that.
      after: after === undefined || steps.some(does(after)),
      meter: steps.slice(at).find((one) => does('charges')(one) || does('charges-task')(one)),
      gate: steps.slice(0, at).find(does('gates')),
    });
  });
}

interface Guards {
  before: boolean;
  after: boolean;
  /** A stage that looks like the hold. */
  gate: Step | undefined;
  /** A stage that looks like the charge. */
  meter: Step | undefined;
}

function unguarded(
  step: Step,
  endpoint: EndpointEntry,
  { before, after, gate, meter }: Guards,
): StageFault[] {
  const subject = `${subjectOf(step, endpoint)} can spend money`;
  const faults: StageFault[] = [];
  if (!before && gate) {
    const message = `${subject} without a hold: "${entryText(gate.entry)}" holds nothing`;
    faults.push(fault(gate.entry, 'no_hold', message, 'write balance in its place'));
  } else if (!before) {
    const message = `${subject} without a hold: no stage "balance" stands before it`;
    faults.push(fault(step.entry, 'no_hold', message, 'put "balance" before it'));
  }
  const right = step.shape.money === 'completes' ? 'meter: once' : 'meter';
  if (!after && meter) {
    const other = `"${entryText(meter.entry)}" charges other work`;
    const message = `${subject} without being charged: ${other}`;
    faults.push(fault(meter.entry, 'wrong_meter', message, `write ${right} in its place`));
  } else if (!after) {
    const message = `${subject} without being charged: no stage "${right}" stands after it`;
    faults.push(fault(step.entry, 'no_meter', message, `put "${right}" after it`));
  }
  return faults;
}
