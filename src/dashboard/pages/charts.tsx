import type { JSX } from 'preact';
import {
  ceiling,
  shownAs,
  startInFull,
  startShown,
  type Bar,
  type Part,
  type Series,
} from './series.js';

const HEIGHT = 232;
const TOP = 12;
const FOOT = 24;
const PLOT = HEIGHT - TOP - FOOT;
/** The minimum width of the axis, its distance from the bars, and the width of a digit. */
const AXIS = 48;
const AXIS_GAP = 8;
const DIGIT = 6.6;
/** The labels of bars and grid lines. */
const TEXT = { fill: 'var(--ink-faint)', 'font-size': 11.5, overflow: 'visible' };
/** About how many bars have a label. */
const NAMES = 6;

/**
 * Bars by hour or day, each with its parts on top of each other. An SVG in percent and pixels, so
 * that it fits any width without a script; a script only makes the tips prettier.
 */
export function BarChart(props: {
  series: Series;
  title: string;
  /** Draws all bars in the colour of failures. */
  is_bad?: boolean;
}): JSX.Element {
  const { series, title, is_bad } = props;
  const { bars, measure } = series;
  const highest = bars.reduce((max, { value }) => Math.max(max, value), 0);
  const { top, ticks } = ceiling(highest);
  const label = `${title}: at most ${shownAs(measure, highest)} in ${bars.length} bars.`;
  return (
    <div class="plot" data-chart>
      <Axis names={ticks.map((tick) => [height(tick, top), nameOf(tick, highest, measure)])} />
      <svg height={HEIGHT} role="img" aria-label={label} {...TEXT}>
        {ticks.map((tick) => {
          const y = height(tick, top);
          return <line x1="0" x2="100%" y1={y} y2={y} stroke="var(--line)" />;
        })}
        {bars.map((bar, at) => (
          <Column bar={bar} at={at} series={series} top={top} is_bad={is_bad} />
        ))}
        {highest === 0 && (
          <text x="50%" y={TOP + PLOT / 2} text-anchor="middle">
            Nothing in this range
          </text>
        )}
      </svg>
    </div>
  );
}

/** The values of the grid lines. It is as wide as the longest of them. */
function Axis({ names }: { names: readonly [y: number, name: string][] }): JSX.Element {
  const longest = names.reduce((max, [, name]) => Math.max(max, name.length), 0);
  const width = Math.max(AXIS, Math.ceil(longest * DIGIT) + AXIS_GAP);
  return (
    <svg class="axis" width={width} height={HEIGHT} aria-hidden="true" {...TEXT}>
      {names.map(([y, name]) => (
        <text x={width - AXIS_GAP} y={y + 4} text-anchor="end">
          {name}
        </text>
      ))}
    </svg>
  );
}

/** The label of a grid line. An empty chart labels only zero. */
function nameOf(tick: number, highest: number, measure: Series['measure']): string {
  return highest === 0 && tick > 0 ? '' : shownAs(measure, tick);
}

function Column(props: {
  bar: Bar;
  at: number;
  series: Series;
  top: number;
  is_bad: boolean | undefined;
}): JSX.Element {
  const { bar, at, series, top, is_bad } = props;
  const { period, bars } = series;
  const step = 100 / bars.length;
  return (
    <g>
      <title>{tip(bar, series)}</title>
      <rect
        class="day"
        x={percent(at * step)}
        width={percent(step)}
        y={TOP}
        height={PLOT}
        fill-opacity="0.1"
      />
      <svg x={percent(at * step)} width={percent(step)} height={HEIGHT}>
        <Pieces {...{ parts: bar.parts, top, is_bad }} is_sum={series.measure !== 'latency'} />
      </svg>
      {isNamed(at, bars.length) && (
        <text x={percent((at + 0.5) * step)} y={HEIGHT - 6} text-anchor="middle">
          {startShown(bar.start_ms, period)}
        </text>
      )}
    </g>
  );
}

/** Parts that add up are stacked; others all stand on the ground, the larger ones behind. */
function Pieces(props: {
  parts: readonly Part[];
  top: number;
  is_sum: boolean;
  is_bad: boolean | undefined;
}): JSX.Element {
  let below = 0;
  const pieces = props.parts.map(({ series, value }) => {
    const foot = height(below, props.top);
    const y = height(props.is_sum ? below + value : value, props.top);
    if (props.is_sum) below += value;
    const fill = props.is_bad ? 'var(--bad)' : colourOf(series);
    return <rect class="piece" fill={fill} y={y} height={Math.max(foot - y, 0)} />;
  });
  return <>{props.is_sum ? pieces : pieces.reverse()}</>;
}

/** Labels are counted from the last bar, which matters most. */
function isNamed(at: number, count: number): boolean {
  const every = Math.max(1, Math.ceil(count / NAMES));
  const left = count - 1 - at;
  return left % every === Math.floor(every / 2) || every === 1;
}

function tip({ start_ms, value, parts }: Bar, { measure, period }: Series): string {
  const lines = [...parts].reverse().map((part) => `${part.name}: ${shownAs(measure, part.value)}`);
  const start = startInFull(start_ms, period);
  // Percentiles have no sum.
  const head = measure === 'latency' && parts.length > 0 ? start : undefined;
  return [head ?? `${start}: ${shownAs(measure, value)}`, ...lines].join('\n');
}

function height(value: number, top: number): number {
  return Math.round((TOP + PLOT - (value / top) * PLOT) * 10) / 10;
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 1000}%`;
}

function colourOf(series: number): string {
  return `var(--series-${series})`;
}

/** The parts of a chart by falling value, in its colours. */
export function Legend({ series: { measure, parts } }: { series: Series }): JSX.Element {
  const highest = parts.reduce((max, { value }) => Math.max(max, value), 1);
  return (
    <ul class="stack legend">
      {parts.map(({ name, series, value }) => (
        <li>
          <div class="row apart">
            <span class="row" title={name}>
              <svg width="9" height="9" aria-hidden="true">
                <rect fill={colourOf(series)} width="9" height="9" rx="2.5" />
              </svg>
              {name}
            </span>
            <span>{shownAs(measure, value)}</span>
          </div>
          <svg width="100%" height="5" aria-hidden="true">
            <rect fill="var(--hover)" width="100%" height="5" rx="2.5" />
            <rect
              fill={colourOf(series)}
              width={percent((value / highest) * 100)}
              height="5"
              rx="2.5"
            />
          </svg>
        </li>
      ))}
    </ul>
  );
}

const SPARK_HEIGHT = 28;

/** Small bars without axes: errors of each hour, red, before the calls, on a scale of their own. */
export function Sparkline(props: {
  bars: readonly { name: string; calls: number; failed: number }[];
  label: string;
}): JSX.Element {
  const { bars, label } = props;
  const highest = bars.reduce((max, { failed }) => Math.max(max, failed), 0);
  const step = 100 / Math.max(bars.length, 1);
  return (
    <svg width="168" height={SPARK_HEIGHT} role="img" aria-label={label}>
      <line x1="0" x2="100%" y1={SPARK_HEIGHT - 0.5} y2={SPARK_HEIGHT - 0.5} stroke="var(--line)" />
      {bars.map(({ name, calls, failed }, at) => {
        const size = failed === 0 ? 0 : Math.max((failed / highest) * (SPARK_HEIGHT - 2), 3);
        const quiet = calls > 0 ? 2 : 0;
        const shown = failed > 0 ? size : quiet;
        return (
          <rect
            fill={failed > 0 ? 'var(--bad)' : 'var(--line-strong)'}
            x={percent((at + 0.12) * step)}
            width={percent(step * 0.76)}
            y={SPARK_HEIGHT - 1 - shown}
            height={shown}
          >
            <title>{`${name}: ${failed} of ${calls} failed`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
