import type { JSX } from 'preact';
import type { GatewayError } from '../../core/errors.js';
import type { Key } from '../../store/keys/keys.js';
import { dayBefore } from '../../actions/moments.js';
import type { UsageRange } from '../../actions/usage-groups.js';
import { Field, FilterChoice, keyOptions, namedOptions } from './fields.js';
import { usagePath, type UsageQuery } from './usage-query.js';

const PRESETS = [1, 7, 30, 90];

interface RangeProps {
  query: UsageQuery;
  range: UsageRange;
  now_ms: number;
  /** The error of an invalid day or range. */
  wrong?: Pick<GatewayError, 'message' | 'param'> | undefined;
}

interface FilterProps extends RangeProps {
  models: readonly string[];
  keys: readonly Key[];
  agents: readonly string[];
}

/** The form of the filter, which is the page's address. */
export function UsageFilters(props: FilterProps): JSX.Element {
  const { query, models, keys, agents } = props;
  return (
    <form class="filters" method="get" action="/usage">
      <RangeFilter path="/usage" {...props} />
      <FilterChoice label="Model" name="model" value={query.model} options={namedOptions(models)} />
      <FilterChoice label="Key" name="key" value={query.key} options={keyOptions(keys)} />
      <FilterChoice label="Agent" name="agent" value={query.agent} options={namedOptions(agents)} />
      <input type="hidden" name="by" value={query.by} />
      <input type="hidden" name="show" value={query.show} />
      <button>Apply</button>
    </form>
  );
}

/** The days of a page at that path. */
export function RangeFilter(props: RangeProps & { path: string }): JSX.Element {
  const { range, wrong } = props;
  const faultOf = (name: string) => (wrong?.param === name ? wrong.message : undefined);
  return (
    <>
      <nav class="segments" aria-label="Range">
        {PRESETS.map((days) => (
          <Preset days={days} {...props} />
        ))}
      </nav>
      <Field
        label="From"
        name="from"
        fault={faultOf('from')}
        input={{ type: 'date', value: range.from }}
      />
      <Field label="To" name="to" fault={faultOf('to')} input={{ type: 'date', value: range.to }} />
    </>
  );
}

function Preset(props: RangeProps & { path: string; days: number }): JSX.Element {
  const { path, days, query, range, now_ms } = props;
  const to = dayBefore(now_ms, 0);
  const from = dayBefore(now_ms, days - 1);
  const isCurrent = range.from === from && range.to === to;
  return (
    <a href={usagePath(path, query, { from, to })} aria-current={isCurrent ? 'true' : undefined}>
      {days === 1 ? 'Today' : `${days} days`}
    </a>
  );
}
