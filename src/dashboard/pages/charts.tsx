import type { JSX } from 'preact';
import { ceiling, type DaySpend, type ModelSpend } from './spend.js';
import { dayShown, dollarsShown } from './words.js';
import { Money } from './parts.js';

const HEIGHT = 232;
const TOP = 12;
const FOOT = 24;
const PLOT = HEIGHT - TOP - FOOT;
/** The part of a day's width that its bar takes. */
const BAR = 0.68;
/** About how many days have a label. */
const NAMES = 6;

/**
 * Spend by day, each day's models on top of each other. An SVG in percent and pixels, so that it
 * fits any width without a script; a script only makes the tips prettier.
 */
export function DayChart({ days }: { days: readonly DaySpend[] }): JSX.Element {
  const most = days.reduce((max, { nano }) => (nano > max ? nano : max), 0n);
  const top = ceiling(most);
  const total = days.reduce((sum, { nano }) => sum + nano, 0n);
  const label =
    `Spend by day: ${dollarsShown(total)} in ${days.length} days, ` +
    `${dollarsShown(most)} on the dearest day.`;
  return (
    <div class="chart plot" data-chart>
      <svg width="56" height={HEIGHT} aria-hidden="true">
        {top.ticks.map((tick) => (
          <text x="48" y={height(tick, top.nano) + 4} text-anchor="end">
            {dollarsShown(tick)}
          </text>
        ))}
      </svg>
      <svg height={HEIGHT} role="img" aria-label={label}>
        {top.ticks.map((tick) => {
          const y = height(tick, top.nano);
          return <line x1="0" x2="100%" y1={y} y2={y} />;
        })}
        {days.map((day, at) => (
          <Day day={day} at={at} count={days.length} top={top.nano} />
        ))}
      </svg>
    </div>
  );
}

function Day(props: { day: DaySpend; at: number; count: number; top: bigint }): JSX.Element {
  const { day, at, count, top } = props;
  const step = 100 / count;
  let below = 0n;
  return (
    <g>
      <title>{tip(day)}</title>
      <rect class="day" x={percent(at * step)} width={percent(step)} y={TOP} height={PLOT} />
      {day.parts.map(({ series, nano }) => {
        const foot = height(below, top);
        below += nano;
        const y = height(below, top);
        return (
          <rect
            class={`s${series}`}
            x={percent((at + (1 - BAR) / 2) * step)}
            width={percent(BAR * step)}
            y={y}
            height={Math.max(foot - y, 0)}
          />
        );
      })}
      {isNamed(at, count) && (
        <text x={percent((at + 0.5) * step)} y={HEIGHT - 6} text-anchor="middle">
          {dayShown(day.day)}
        </text>
      )}
    </g>
  );
}

/** Labels are counted from the last day, which matters most. */
function isNamed(at: number, count: number): boolean {
  const every = Math.max(1, Math.ceil(count / NAMES));
  const left = count - 1 - at;
  return left % every === Math.floor(every / 2) || every === 1;
}

function tip({ day, nano, parts }: DaySpend): string {
  const lines = [...parts].reverse().map((part) => `${part.name}: ${dollarsShown(part.nano)}`);
  return [`${dayShown(day)}: ${dollarsShown(nano)}`, ...lines].join('\n');
}

function height(nano: bigint, top: bigint): number {
  return Math.round((TOP + PLOT - (Number(nano) / Number(top)) * PLOT) * 10) / 10;
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 1000}%`;
}

/** Spend by model, by falling cost, in the colours of the chart by day. */
export function ModelBars({ models }: { models: readonly ModelSpend[] }): JSX.Element {
  const most = models.reduce((max, { nano }) => (nano > max ? nano : max), 1n);
  return (
    <ul class="legend chart">
      {models.map(({ name, series, nano }) => (
        <li>
          <div class="line">
            <svg width="9" height="9" aria-hidden="true">
              <rect class={`s${series}`} width="9" height="9" rx="2.5" />
            </svg>
            <span class="name" title={name}>
              {name}
            </span>
            <Money nano={nano} />
          </div>
          <svg class="share" aria-hidden="true">
            <rect class="rest" width="100%" height="5" rx="2.5" />
            <rect
              class={`s${series}`}
              width={percent((Number(nano) / Number(most)) * 100)}
              height="5"
              rx="2.5"
            />
          </svg>
        </li>
      ))}
    </ul>
  );
}
