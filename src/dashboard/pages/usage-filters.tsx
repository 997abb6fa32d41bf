import type { JSX } from 'preact';
import type { GatewayError } from '../../core/errors.js';
import type { Key } from '../../store/keys/keys.js';
import { dayBefore } from '../../actions/moments.js';
import type { UsageRange } from '../../actions/usage-groups.js';
import { Choice, Field, filterOptions, keyOptions, namedOptions } from './fields.js';
import { usagePath, type UsageQuery } from './usage-query.js';

const PRESETS = [1, 7, 30, 90];

interface FilterProps {
  query: UsageQuery;
  range: UsageRange;
  models: readonly string[];
  keys: readonly Key[];
  now_ms: number;
  /** The error of an invalid day or range. */
  wrong?: Pick<GatewayError, 'message' | 'param'>;
}

/** The form of the filter, which is the page's address. */
export function UsageFilters(props: FilterProps): JSX.Element {
  const { query, range, models, keys, wrong } = props;
  const faultOf = (name: string) => (wrong?.param === name ? wrong.message : undefined);
  return (
    <form class="filters" method="get" action="/usage">
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
      <Choice
        label="Model"
        name="model"
        value={query.model}
        options={filterOptions(namedOptions(models), query.model)}
      />
      <Choice
        label="Key"
        name="key"
        value={query.key}
        options={filterOptions(keyOptions(keys), query.key)}
      />
      <input type="hidden" name="by" value={query.by} />
      <input type="hidden" name="show" value={query.show} />
      <button>Apply</button>
    </form>
  );
}

function Preset({ days, query, range, now_ms }: FilterProps & { days: number }): JSX.Element {
  const to = dayBefore(now_ms, 0);
  const from = dayBefore(now_ms, days - 1);
  const isCurrent = range.from === from && range.to === to;
  return (
    <a
      href={usagePath('/usage', query, { from, to })}
      aria-current={isCurrent ? 'true' : undefined}
    >
      {days === 1 ? 'Today' : `${days} days`}
    </a>
  );
}
