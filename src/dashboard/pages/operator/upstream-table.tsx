import type { JSX } from 'preact';
import { momentName, type Span } from '../../../actions/moments.js';
import { requestsPath } from '../../views/request-query.js';
import type { UpstreamHistory } from '../../views/upstreams.js';
import { Sparkline } from '../charts.js';
import { startInFull } from '../series.js';
import { formatCount, formatMs, formatPercent } from '../formatting.js';

/** A row for each upstream, with its last day hour by hour. */
export function UpstreamTable(props: {
  upstreams: readonly UpstreamHistory[];
  span: Span;
}): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Upstreams">
      <table class="fold">
        <thead>
          <tr>
            <th>Upstream</th>
            <th>Errors by hour</th>
            <th class="number">Calls</th>
            <th class="number">Errors</th>
            <th class="number">p50</th>
            <th class="number">p95</th>
            <th class="number">First token</th>
          </tr>
        </thead>
        <tbody>
          {props.upstreams.map((upstream) => (
            <UpstreamRow upstream={upstream} span={props.span} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function UpstreamRow(props: { upstream: UpstreamHistory; span: Span }): JSX.Element {
  const { provider, model, totals, took, first_token, hours } = props.upstream;
  const { calls, failed } = totals;
  const from = momentName(props.span.from_ms);
  const path = requestsPath('/operator/requests', { provider, model, from, status: 'failed' });
  const bars = hours.map((hour) => ({ ...hour, name: startInFull(hour.start_ms, 'hour') }));
  return (
    <tr>
      <td class="lead">
        <strong>{provider}</strong>
        <div class="hint">{model}</div>
      </td>
      <td class="history">
        <Sparkline
          bars={bars}
          label={`${formatCount(failed)} of ${formatCount(calls)} calls failed`}
        />
      </td>
      <td class="number soft" data-label="Calls">
        {formatCount(calls)}
      </td>
      <td class="number end">
        {failed > 0 ? (
          <a href={path}>{formatPercent(failed / calls)}</a>
        ) : (
          <Nothing calls={calls} />
        )}
      </td>
      <td class="number soft" data-label="p50">
        {took ? formatMs(took.p50_ms) : '–'}
      </td>
      <td class="number soft" data-label="p95">
        {took ? formatMs(took.p95_ms) : '–'}
      </td>
      <td class="number soft" data-label="First token">
        {first_token ? formatMs(first_token.p50_ms) : '–'}
      </td>
    </tr>
  );
}

function Nothing({ calls }: { calls: number }): JSX.Element {
  return <span class="nothing">{calls > 0 ? 'none' : 'no calls'}</span>;
}
