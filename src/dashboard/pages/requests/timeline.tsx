import type { JSX } from 'preact';
import {
  CLIENT_LEFT_STATUS,
  hasFailed,
  type RequestRecord,
  type UpstreamAttempt,
} from '../../../core/request-record.js';
import { Badge, Ago, type Mood } from '../parts.js';
import { counted, msShown } from '../words.js';

interface Step {
  name: string;
  mood?: Mood | undefined;
  badge?: string | undefined;
  note?: JSX.Element | string | null;
  took_ms?: number;
  /** Where its bar begins and ends, as shares of the whole time. */
  bar?: [number, number];
}

/** Refusals for want of money: the key was good, the hold was not granted. */
const UNHELD: ReadonlySet<string> = new Set(['insufficient_balance', 'key_limit_reached']);

interface Props {
  record: RequestRecord;
  names_upstreams: boolean;
  now_ms: number;
}

/** What happened to a request, in order. Clients are not told the names of upstreams. */
export function Timeline(props: Props): JSX.Element {
  return (
    <ol class="timeline">
      {stepsOf(props).map((step) => (
        <li class={step.mood}>
          <div class="row">
            <strong>{step.name}</strong>
            {step.badge !== undefined && <Badge mood={step.mood}>{step.badge}</Badge>}
            {step.took_ms !== undefined && <span class="took soft">{msShown(step.took_ms)}</span>}
          </div>
          {step.note && <p class="soft small">{step.note}</p>}
          {step.bar && <Bar from={step.bar[0]} to={step.bar[1]} isBad={step.mood === 'bad'} />}
        </li>
      ))}
    </ol>
  );
}

function Bar({ from, to, isBad }: { from: number; to: number; isBad: boolean }): JSX.Element {
  const width = Math.max(to - from, 0.005);
  return (
    <svg class="chart bar" height="6" aria-hidden="true">
      <rect class="rest" width="100%" height="6" rx="3" />
      <rect
        class={isBad ? 'failed' : 's0'}
        x={`${(Math.min(from, 1 - width) * 100).toFixed(2)}%`}
        width={`${(width * 100).toFixed(2)}%`}
        height="6"
        rx="3"
      />
    </svg>
  );
}

function stepsOf({ record, names_upstreams, now_ms }: Props): Step[] {
  const { attempts, first_token_ms } = record;
  const steps: Step[] = [
    { name: 'Came in', note: <Ago at_ms={record.time_ms} now_ms={now_ms} /> },
    { name: 'API key', badge: 'accepted', mood: 'good' },
    ...holdOf(record),
    ...attemptSteps(record, names_upstreams),
  ];
  if (first_token_ms !== null) {
    const note = 'after the request came in';
    steps.push({ name: 'First token', took_ms: first_token_ms, note });
  }
  const note = attempts.length > 0 ? `${msShown(record.own_ms)} of it in the gateway` : null;
  steps.push({ name: 'End', took_ms: record.took_ms, note, ...ending(record) });
  return steps;
}

/** Whether money was set aside: all that ask an upstream for paid work have a hold. */
function holdOf(record: RequestRecord): Step[] {
  const { code, attempts } = record;
  if (code !== null && UNHELD.has(code)) return [{ name: 'Hold', badge: 'refused', mood: 'bad' }];
  if (attempts.length === 0) return [];
  const isPaid = record.cost_nano + record.uncollected_nano > 0n;
  if (isPaid) return [{ name: 'Hold', badge: 'settled', mood: 'good' }];
  return [{ name: 'Hold', badge: 'released, or none', note: 'Nothing was charged.' }];
}

function attemptSteps({ attempts, took_ms, own_ms }: RequestRecord, named: boolean): Step[] {
  let from_ms = Math.min(own_ms, took_ms);
  return attempts.map((attempt, at) => {
    const start = share(from_ms, took_ms);
    from_ms += attempt.took_ms;
    return {
      name: named ? `${attempt.provider} · ${attempt.model}` : `Upstream ${at + 1}`,
      badge: attempt.fault === null ? 'answered' : faultOf(attempt),
      mood: attempt.fault === null ? 'good' : 'bad',
      note: attempt.message,
      took_ms: attempt.took_ms,
      bar: [start, share(from_ms, took_ms)],
    };
  });
}

function share(ms: number, all_ms: number): number {
  return all_ms <= 0 ? 0 : Math.min(ms / all_ms, 1);
}

/** `overloaded, 503, insufficient_quota` */
function faultOf({ fault, status, codes }: UpstreamAttempt): string {
  return [fault?.replaceAll('_', ' '), status, codes].filter(Boolean).join(', ');
}

function ending(record: RequestRecord): Pick<Step, 'badge' | 'mood'> {
  const { status, code, attempts } = record;
  if (status === CLIENT_LEFT_STATUS) return { badge: 'the client left', mood: 'warn' };
  if (!hasFailed(record)) return { badge: `answered with ${status}`, mood: 'good' };
  const after = attempts.length > 0 ? ` after ${counted(attempts.length, 'attempt')}` : '';
  return { badge: `${status} ${code ?? ''}${after}`, mood: 'bad' };
}
