import type { JSX } from 'preact';
import type { Grouping, Usage, UsageFigures, UsageGroup } from '../views/usage.js';
import { Money } from './parts.js';
import { dayShown, grouped } from './words.js';
import type { Key } from '../../store/keys/keys.js';

const HEADS: Record<Grouping, string> = { day: 'Day', model: 'Model', key: 'Key' };

/** A table of usage and its sum. Columns without usage are left out. */
export function UsageTable(props: {
  usage: Usage;
  by: Grouping;
  keys: readonly Key[];
}): JSX.Element {
  const { usage, by, keys } = props;
  const { groups, totals } = usage;
  const columns = COLUMNS.filter(({ of }) => of(totals) > 0);
  const rows = by === 'day' ? groups.toReversed() : groups;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Usage">
      <table>
        <thead>
          <tr>
            <th>{HEADS[by]}</th>
            <th class="number">Cost</th>
            {columns.map(({ name }) => (
              <th class="number">{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((group) => (
            <tr>
              <td>
                <Name group={group} by={by} keys={keys} />
              </td>
              <Cells figures={group} columns={columns} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>Total</td>
            <Cells figures={totals} columns={columns} />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

interface Column {
  name: string;
  of: (figures: UsageFigures) => number;
}

const COLUMNS: Column[] = [
  { name: 'Calls', of: ({ calls }) => calls },
  { name: 'Input tokens', of: ({ prompt_tokens }) => prompt_tokens },
  { name: 'Cached', of: ({ cached_tokens }) => cached_tokens },
  { name: 'Cache writes', of: ({ cache_write_tokens }) => cache_write_tokens },
  { name: 'Audio in', of: ({ audio_input_tokens }) => audio_input_tokens },
  { name: 'Output tokens', of: ({ completion_tokens }) => completion_tokens },
  { name: 'Audio out', of: ({ audio_output_tokens }) => audio_output_tokens },
  { name: 'Reasoning', of: ({ reasoning_tokens }) => reasoning_tokens },
  { name: 'Images', of: ({ images }) => images },
  { name: 'Video seconds', of: ({ video_seconds }) => video_seconds },
];

function Cells(props: { figures: UsageFigures; columns: readonly Column[] }): JSX.Element {
  return (
    <>
      <td class="number">
        <Money nano={props.figures.cost_nano} />
      </td>
      {props.columns.map(({ of }) => {
        const count = of(props.figures);
        return <td class={count > 0 ? 'number' : 'number nothing'}>{grouped(count)}</td>;
      })}
    </>
  );
}

function Name(props: { group: UsageGroup; by: Grouping; keys: readonly Key[] }): JSX.Element {
  const { group } = props.group;
  if (props.by === 'day' && group !== null) {
    return (
      <time class="nowrap" dateTime={group}>
        {dayShown(group)} {group.slice(0, 4)}
      </time>
    );
  }
  if (props.by === 'model' && group !== null) return <strong>{group}</strong>;
  const key = props.keys.find(({ id }) => id === group);
  return key ? <strong>{key.name}</strong> : <span class="faint">without a key</span>;
}
