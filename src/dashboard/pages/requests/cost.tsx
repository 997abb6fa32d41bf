import type { JSX } from 'preact';
import type { RequestRecord } from '../../../core/request-record.js';
import type { Task } from '../../../store/tasks/task-types.js';
import type { RequestMoney } from '../../views/request-money.js';
import type { CostLine, RequestCost } from '../../views/request-cost.js';
import { Card, Money } from '../parts.js';
import { formatExactAmount, formatCount } from '../formatting.js';

/** How the cost of a request came about: so much of each class, at the price as charged. */
export function CostCard(props: {
  record: RequestRecord;
  cost: RequestCost;
  money: RequestMoney;
}): JSX.Element {
  const { record, cost, money } = props;
  if (cost.lines.length === 0) {
    return (
      <Card title="Cost">
        <p class="soft">
          {unexplained(record, cost, money)}
          {money.refunded_nano > 0n && (
            <>
              {' '}
              <Money nano={money.refunded_nano} /> of it was refunded.
            </>
          )}
        </p>
      </Card>
    );
  }
  return (
    <Card title="Cost" about="At the prices of that time, rounded up to $0.000000001" flush>
      <div class="scroll" tabIndex={0} role="region" aria-label="Cost">
        <table class="fold">
          <thead>
            <tr>
              <th>Class</th>
              <th class="number">Count</th>
              <th class="number">Price</th>
              <th class="number">Cost</th>
            </tr>
          </thead>
          <tbody>
            {cost.lines.map((line) => (
              <Line {...line} />
            ))}
          </tbody>
          <tfoot>
            <Total name="Total" nano={cost.total_nano} />
            {record.uncollected_nano > 0n && (
              <>
                <Total name="Not collected" nano={-record.uncollected_nano} />
                <Total name="Charged" nano={record.cost_nano} />
              </>
            )}
            {money.refunded_nano > 0n && (
              <>
                <Total name="Refunded" nano={-money.refunded_nano} />
                <Total name="Spent after refunds" nano={record.cost_nano - money.refunded_nano} />
              </>
            )}
          </tfoot>
        </table>
      </div>
    </Card>
  );
}

function unexplained(
  { model }: RequestRecord,
  { total_nano }: RequestCost,
  { task }: RequestMoney,
): JSX.Element | string {
  if (total_nano === 0n && task) return ofTask(task);
  if (total_nano === 0n) return 'Nothing was charged.';
  return (
    <>
      <Money nano={total_nano} /> for {model ?? 'this request'}. Its price has changed since, and
      the one of that time was not kept.
    </>
  );
}

/** A submission costs nothing by itself. */
function ofTask({ charge_nano, hold_nano }: Task): string {
  if (charge_nano !== null) return 'It was charged when the result was fetched, by that request.';
  return hold_nano > 0n ? 'It is charged when the result is fetched.' : 'Nothing was charged.';
}

/** What one of a unit is called beside its price. */
const EACH: Readonly<Record<string, string>> = {
  Images: ' an image',
  Characters: ' a character',
  'Seconds of audio': ' a second',
  'Seconds of video': ' a second',
};

function Line({ name, count, price_nano, by_million, cost_nano }: CostLine): JSX.Element {
  return (
    <tr>
      <td class="lead">{name}</td>
      <td class="number" data-label="Count">
        {formatCount(count)}
      </td>
      <td class="number soft" data-label="Price">
        × {formatExactAmount(price_nano)}
        {by_million ? ' a million' : (EACH[name] ?? '')}
      </td>
      <td class="number end">{formatExactAmount(cost_nano)}</td>
    </tr>
  );
}

function Total({ name, nano }: { name: string; nano: bigint }): JSX.Element {
  return (
    <tr>
      <td class="lead" colSpan={3}>
        {name}
      </td>
      <td class="number end">{formatExactAmount(nano)}</td>
    </tr>
  );
}
