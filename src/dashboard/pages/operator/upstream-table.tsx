import { momentName, type Span } from '../../../actions/moments.js';
import { requestsPath } from '../../views/request-query.js';
import type { UpstreamHistory } from '../../views/upstreams.js';
import { Sparkline } from '../charts.js';
import { startInFull } from '../series.js';
import type { Column } from '../table.js';
import { formatCount, formatMs, formatPercent } from '../formatting.js';

/** The columns of upstreams, with their last day hour by hour. */
export function upstreamColumns({ from_ms }: Span): Column<UpstreamHistory>[] {
  const from = momentName(from_ms);
  const time = (name: string, of: (row: UpstreamHistory) => number | undefined) => ({
    head: name,
    class: 'number soft',
    label: name,
    cell(row: UpstreamHistory) {
      const ms = of(row);
      return ms === undefined ? '–' : formatMs(ms);
    },
  });
  return [
    {
      head: 'Upstream',
      class: 'lead',
      cell: ({ provider, model }) => (
        <>
          <strong>{provider}</strong>
          <div class="hint">{model}</div>
        </>
      ),
    },
    {
      head: 'Errors by hour',
      class: 'wide',
      cell: ({ hours, totals: { calls, failed } }) => (
        <Sparkline
          bars={hours.map((hour) => ({ ...hour, name: startInFull(hour.start_ms, 'hour') }))}
          label={`${formatCount(failed)} of ${formatCount(calls)} calls failed`}
        />
      ),
    },
    {
      head: 'Calls',
      class: 'number soft',
      label: 'Calls',
      cell: ({ totals: { calls } }) => formatCount(calls),
    },
    {
      head: 'Errors',
      class: 'number end',
      cell({ provider, model, totals: { calls, failed } }) {
        if (failed === 0) return <span class="hint">{calls > 0 ? 'none' : 'no calls'}</span>;
        const query = { provider, model, from, status: 'failed' };
        return (
          <a href={requestsPath('/operator/requests', query)}>{formatPercent(failed / calls)}</a>
        );
      },
    },
    time('p50', ({ took }) => took?.p50_ms),
    time('p95', ({ took }) => took?.p95_ms),
    time('First token', ({ first_token }) => first_token?.p50_ms),
  ];
}
