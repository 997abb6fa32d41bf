import type { JSX } from 'preact';
import {
  CLIENT_DISCONNECTED_STATUS,
  hasFailed,
  isUpstreams,
  type RequestRecord,
  type UpstreamAttempt,
} from '../../../core/request-record.js';
import type { Task } from '../../../store/tasks/task-types.js';
import { Badge, Ago, type StatusColour } from '../parts.js';
import { pluralize, formatExactAmount, formatMs } from '../formatting.js';

interface Step {
  name: string;
  colour?: StatusColour | undefined;
  badge?: string | undefined;
  note?: JSX.Element | string | null;
  took_ms?: number;
  /** Where its bar begins and ends, as shares of the whole time. */
  bar?: [number, number];
}

/** The codes of a refused hold: the key was accepted, but there was too little money. */
const UNHELD: ReadonlySet<string> = new Set([
  'insufficient_balance',
  'key_limit_reached',
  'allowance_reached',
]);

interface Props {
  record: RequestRecord;
  names_upstreams: boolean;
  now_ms: number;
  task: Task | undefined;
}

/** The steps of a request in order. Only operators see the names of upstreams. */
export function Timeline(props: Props): JSX.Element {
  return (
    <ol class="timeline">
      {stepsOf(props).map((step) => (
        <li class={step.colour}>
          <div class="row apart">
            <span>
              <strong>{step.name}</strong>
              {step.badge !== undefined && (
                <>
                  {' '}
                  <Badge colour={step.colour}>{step.badge}</Badge>
                </>
              )}
            </span>
            {step.took_ms !== undefined && <span class="soft">{formatMs(step.took_ms)}</span>}
          </div>
          {step.note && <p class="hint">{step.note}</p>}
          {step.bar && <Bar from={step.bar[0]} to={step.bar[1]} isBad={step.colour === 'bad'} />}
        </li>
      ))}
    </ol>
  );
}

function Bar({ from, to, isBad }: { from: number; to: number; isBad: boolean }): JSX.Element {
  const width = Math.max(to - from, 0.005);
  return (
    <svg width="100%" height="6" aria-hidden="true">
      <rect fill="var(--hover)" width="100%" height="6" rx="3" />
      <rect
        fill={isBad ? 'var(--bad)' : 'var(--series-0)'}
        x={`${(Math.min(from, 1 - width) * 100).toFixed(2)}%`}
        width={`${(width * 100).toFixed(2)}%`}
        height="6"
        rx="3"
      />
    </svg>
  );
}

function stepsOf({ record, names_upstreams, now_ms, task }: Props): Step[] {
  const { attempts, first_token_ms, auth_ms, read_ms } = record;
  const key: Step = { name: 'API key', badge: 'accepted', colour: 'good' };
  const steps: Step[] = [
    { name: 'Came in', note: <Ago at_ms={record.time_ms} now_ms={now_ms} /> },
    { ...key, ...between(record, 0, auth_ms) },
  ];
  if (read_ms !== null) {
    steps.push({ name: 'Request read', ...between(record, auth_ms ?? 0, read_ms) });
  }
  steps.push(...holdOf(record, task), ...attemptSteps(record, names_upstreams));
  if (first_token_ms !== null) {
    const note = 'after the request came in';
    steps.push({ name: 'First token', took_ms: first_token_ms, note });
  }
  const note = attempts.length > 0 ? `${formatMs(record.own_ms)} of it in the gateway` : null;
  steps.push({ name: 'End', took_ms: record.took_ms, note, ...ending(record) });
  return steps;
}

/** The duration of a step, and its bar within the request; empty for a step that has not ended. */
function between(
  { took_ms: all_ms }: RequestRecord,
  from_ms: number,
  to_ms: number | null,
): Pick<Step, 'took_ms' | 'bar'> {
  if (to_ms === null) return {};
  return {
    took_ms: Math.max(to_ms - from_ms, 0),
    bar: [share(from_ms, all_ms), share(to_ms, all_ms)],
  };
}

/** The step of the hold. Every paid call to an upstream has one. */
function holdOf(record: RequestRecord, task: Task | undefined): Step[] {
  const { code, attempts, read_ms, hold_ms } = record;
  const hold = { name: 'Hold', ...between(record, read_ms ?? 0, hold_ms) };
  if (code !== null && UNHELD.has(code)) return [{ ...hold, badge: 'refused', colour: 'bad' }];
  if (task) return [{ ...hold, ...heldBy(task) }];
  if (attempts.length === 0) return [];
  const isPaid = record.cost_nano + record.uncollected_nano > 0n;
  if (isPaid) return [{ ...hold, badge: 'settled', colour: 'good' }];
  const badge = hold_ms === null ? 'none' : 'none is open';
  return [{ ...hold, badge, note: 'Nothing was charged.' }];
}

/** The hold of a submission belongs to its task, until the result is fetched or there is none. */
function heldBy({ hold_nano, charge_nano }: Task): Pick<Step, 'badge' | 'colour' | 'note'> {
  if (charge_nano !== null) {
    const note = `${formatExactAmount(charge_nano)} was charged when the result was fetched.`;
    return { badge: 'moved to the task', colour: 'good', note };
  }
  if (hold_nano === 0n) return { badge: 'none is open', note: 'Nothing was charged.' };
  const badge = `${formatExactAmount(hold_nano)}, moved to the task`;
  return { badge, note: 'It is charged when the result is fetched.' };
}

/** A usual attempt has no time of its own in the store: it began when the hold was taken. */
function attemptSteps(record: RequestRecord, names_upstreams: boolean): Step[] {
  const { attempts, took_ms, own_ms, hold_ms } = record;
  let next_ms = hold_ms ?? Math.min(own_ms, took_ms);
  return attempts.map((attempt, at) => {
    const from_ms = attempt.began_ms ?? next_ms;
    next_ms = from_ms + attempt.took_ms;
    return {
      name: names_upstreams ? `${attempt.provider} · ${attempt.model}` : `Upstream ${at + 1}`,
      badge: attempt.fault === null ? 'answered' : faultOf(attempt),
      colour: colourOf(attempt),
      note: attempt.message,
      ...between(record, from_ms, next_ms),
    };
  });
}

function colourOf({ fault }: UpstreamAttempt): StatusColour {
  if (fault === null) return 'good';
  return isUpstreams(fault) ? 'bad' : 'warn';
}

function share(ms: number, all_ms: number): number {
  return all_ms <= 0 ? 0 : Math.min(ms / all_ms, 1);
}

/** `overloaded, 503, insufficient_quota` */
function faultOf({ fault, status, codes }: UpstreamAttempt): string {
  return [fault?.replaceAll('_', ' '), status, codes].filter(Boolean).join(', ');
}

function ending(record: RequestRecord): Pick<Step, 'badge' | 'colour'> {
  const { status, code, attempts } = record;
  if (status === CLIENT_DISCONNECTED_STATUS) return { badge: 'the client left', colour: 'warn' };
  if (!hasFailed(record)) return { badge: `answered with ${status}`, colour: 'good' };
  const after = attempts.length > 0 ? ` after ${pluralize(attempts.length, 'attempt')}` : '';
  return { badge: `${status} ${code ?? ''}${after}`, colour: 'bad' };
}
