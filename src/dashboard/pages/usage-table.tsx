import type { JSX } from 'preact';
import type { RequestTotals, TotalsRow } from '../../store/requests/request-types.js';
import { groupTotals as groupedBy, sumTotals } from '../views/traffic.js';
import type { Grouping } from '../../actions/usage-groups.js';
import { Money } from './parts.js';
import { PERIOD_MS, startInFull, type Series } from './series.js';
import { formatCount } from './formatting.js';
import type { Key } from '../../store/keys/keys.js';

interface Group {
  name: string;
  totals: RequestTotals;
}

/** A table of totals and their sum. Columns without usage are left out. */
export function UsageTable(props: {
  rows: readonly TotalsRow[];
  by: Grouping;
  period: Series['period'];
  keys: readonly Key[];
}): JSX.Element {
  const { rows, by, period } = props;
  const groups = groupsOf(props);
  const totals = sumTotals(rows);
  const columns = COLUMNS.filter(({ of }) => of(totals) > 0);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Usage">
      <table>
        <thead>
          <tr>
            <th>{by === 'day' && period === 'hour' ? 'Hour (UTC)' : HEADS[by]}</th>
            <th class="number">Charged</th>
            {columns.map(({ name }) => (
              <th class="number">{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr>
              <td class={by === 'day' ? 'nowrap' : 'breaks'}>
                {by === 'day' ? group.name : <strong>{group.name}</strong>}
              </td>
              <Cells totals={group.totals} columns={columns} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>Total</td>
            <Cells totals={totals} columns={columns} />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

const HEADS: Record<Grouping, string> = {
  day: 'Day',
  model: 'Model',
  key: 'Key',
  agent: 'Agent',
};

function groupsOf(props: Parameters<typeof UsageTable>[0]): Group[] {
  const { rows, by, period, keys } = props;
  if (by === 'day') {
    const length_ms = PERIOD_MS[period];
    const days = groupedBy(rows, ({ start_ms = 0 }) => start_ms - (start_ms % length_ms));
    return days
      .sort((a, b) => b.name - a.name)
      .map(({ name, totals }) => ({ name: dated(name, period), totals }));
  }
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const groups = groupedBy(rows, (row) => {
    if (by === 'model') return row.model || 'no model';
    if (by === 'agent') return row.agent || 'not known';
    return names.get(row.key_id ?? '') ?? 'another key';
  });
  return groups.sort(({ totals: a }, { totals: b }) => {
    if (a.cost_nano !== b.cost_nano) return a.cost_nano < b.cost_nano ? 1 : -1;
    return b.calls - a.calls;
  });
}

function dated(start_ms: number, period: Series['period']): string {
  const year = new Date(start_ms).getUTCFullYear();
  return period === 'day'
    ? `${startInFull(start_ms, period)} ${year}`
    : startInFull(start_ms, period);
}

interface Column {
  name: string;
  of: (totals: RequestTotals) => number;
}

const COLUMNS: Column[] = [
  { name: 'Calls', of: ({ calls }) => calls },
  { name: 'Errors', of: ({ failed }) => failed },
  { name: 'Input tokens', of: ({ prompt_tokens }) => prompt_tokens },
  { name: 'Cached', of: ({ cached_tokens }) => cached_tokens },
  { name: 'Cache writes', of: ({ cache_write_tokens }) => cache_write_tokens },
  { name: 'Cache writes, 1 h', of: ({ cache_write_1h_tokens }) => cache_write_1h_tokens },
  { name: 'Audio in', of: ({ audio_input_tokens }) => audio_input_tokens },
  { name: 'Images in', of: ({ image_input_tokens }) => image_input_tokens },
  { name: 'Output tokens', of: ({ completion_tokens }) => completion_tokens },
  { name: 'Audio out', of: ({ audio_output_tokens }) => audio_output_tokens },
  { name: 'Images out', of: ({ image_output_tokens }) => image_output_tokens },
  { name: 'Reasoning', of: ({ reasoning_tokens }) => reasoning_tokens },
];

function Cells(props: { totals: RequestTotals; columns: readonly Column[] }): JSX.Element {
  return (
    <>
      <td class="number">
        <Money nano={props.totals.cost_nano} />
      </td>
      {props.columns.map(({ of }) => (
        <td class="number">{formatCount(of(props.totals))}</td>
      ))}
    </>
  );
}
