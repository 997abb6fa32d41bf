import type { ComponentChildren, JSX } from 'preact';
import type { Account } from '../../store/accounts/accounts.js';
import { changeOf } from '../views/traffic.js';
import type { Pace, UsageReport } from '../views/usage-report.js';
import { Figures, Money, type Figure } from './parts.js';
import { MEASURES, shownAs, valueOf, type Measure } from './series.js';
import { isFiltered, usagePath, type UsageQuery } from './usage-query.js';
import { formatDaysLeft, formatAmount, formatCount, formatPercent } from './formatting.js';

export const MEASURE_NAMES: Record<Measure, string> = {
  spend: 'Charged',
  calls: 'Calls',
  tokens: 'Tokens',
  errors: 'Errors',
  latency: 'Latency',
};

/** The sums of a range, each with its change since the range before, and the pace of spending. */
export function UsageFigures(props: {
  query: UsageQuery;
  report: UsageReport;
  account: Account;
  pace: Pace;
}): JSX.Element {
  const { query, report, account, pace } = props;
  const figures = MEASURES.map((show): Figure => {
    const value = valueIn(report, show);
    const isOfAll = show === 'latency' && isFiltered(query);
    return {
      name: show === 'latency' ? 'Latency, median' : MEASURE_NAMES[show],
      value: (
        <a href={usagePath('/usage', query, { show })}>
          {value === undefined ? '–' : shownAs(show, value)}
        </a>
      ),
      note: isOfAll ? 'of all calls' : <Note report={report} show={show} />,
    };
  });
  return <Figures figures={[...figures, creditOf(account, pace)]} />;
}

function creditOf({ balance_nano, held_nano }: Account, { days, daily_nano }: Pace): Figure {
  return {
    name: 'Credit left',
    value: <Money nano={balance_nano - held_nano} />,
    note:
      days === undefined ? (
        'no spend this week'
      ) : (
        <span title={`At ${formatAmount(daily_nano)} a day, as in the last seven days`}>
          {formatDaysLeft(days)}
        </span>
      ),
  };
}

function valueIn({ totals, latency }: Pick<UsageReport, 'totals' | 'latency'>, show: Measure) {
  return show === 'latency' ? latency?.took?.p50_ms : valueOf(show, totals);
}

function Note(props: { report: UsageReport; show: Measure }): ComponentChildren {
  const { report, show } = props;
  const { totals } = report;
  const share = totals.calls > 0 ? totals.failed / totals.calls : 0;
  const now = valueIn(report, show);
  const before = valueIn(report.before, show);
  const change = now === undefined || before === undefined ? undefined : changeOf(now, before);
  const parts = [
    ...(show === 'errors' && totals.calls > 0 ? [`${formatPercent(share)} of calls`] : []),
    ...(change === undefined ? [] : [changeShown(change)]),
  ];
  return (
    <span title="Against the range before, of the same length">
      {parts.length === 0 && 'none before'}
      {parts.map((part, at) => (
        <>
          {at > 0 && ', '}
          <span class="nowrap">{part}</span>
        </>
      ))}
    </span>
  );
}

/** `▲ 12 %` */
function changeShown(change: number): string {
  if (Math.abs(change) < 0.005) return 'as before';
  const size = `${formatCount(Math.round(Math.abs(change) * 100))} %`;
  return change > 0 ? `▲ ${size}` : `▼ ${size}`;
}
