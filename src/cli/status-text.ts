import { pluralize } from './print.js';
import { withDollarSign } from '../lib/money.js';
import { oldListText } from '../lib/old-list.js';
import { formatCell } from './print-rows.js';
import { boxName, differenceText, offsetText } from '../telemetry/boxes.js';
import type { StatusReport } from './status-report.js';

const NAME_COLUMN = 14;

/** The lines of `tollgate status` for people. */
export function statusText(report: StatusReport): string[] {
  const { configuration, store, boxes, holds, upstreams, requests, waiting_charges } = report;
  const lines = [
    line('serving', servingText(report)),
    line('configuration', configurationText(configuration)),
    line('store', `${store.kind}, ${store.answers ? 'answers' : `away: ${store.reason}`}`),
  ];
  const age = oldListText(report.list_prices);
  if (age !== undefined) lines.push(line('prices', age));
  if (holds) {
    const amount = withDollarSign(holds.amount);
    lines.push(line('holds', `${pluralize(holds.count, 'open hold')}, ${amount} in all`));
  }
  lines.push(line('backlog', `${pluralize(waiting_charges, 'charge')} waiting for the store`));
  if (requests) lines.push(line('requests', requestsText(requests)));
  for (const one of upstreams ?? []) lines.push(line(`  ${one.name}`, upstreamText(one)));
  if (boxes) lines.push(...boxLines(boxes));
  return lines;
}

function line(name: string, text: string): string {
  return `${name.padEnd(NAME_COLUMN)} ${formatCell(text)}`;
}

function servingText({ serving }: StatusReport): string {
  const { address, answers, ready, reason, configuration } = serving;
  const state = ready ? 'yes, ready' : answers ? 'yes, but not ready' : 'no';
  const facts = [`${state}, at ${address}`, reason, configuration];
  return facts.filter((fact) => fact !== null).join('; ');
}

function configurationText(configuration: StatusReport['configuration']): string {
  const { file, errors, warnings, first_error } = configuration;
  if (errors > 0) return `${file} has ${pluralize(errors, 'error')}; ${first_error}`;
  return `${file} is valid${warnings > 0 ? `, with ${pluralize(warnings, 'warning')}` : ''}`;
}

function requestsText(requests: NonNullable<StatusReport['requests']>): string {
  const { since, count, failed, error_rate, p95_ms } = requests;
  const share = error_rate === null ? '' : ` (${(error_rate * 100).toFixed(1)} %)`;
  const slow = p95_ms === null ? '' : `, p95 ${p95_ms} ms`;
  return `${count} since ${since?.slice(11, 16)} UTC, ${failed} failed${share}${slow}`;
}

function boxLines({ count, data, differences }: NonNullable<StatusReport['boxes']>): string[] {
  const differ = differences.map((one) => `; they differ in ${differenceText(one)}`).join('');
  const lines = [line('boxes', `${pluralize(count, 'box', 'boxes')} on this store${differ}`)];
  for (const box of data) {
    const { host, listen, health, version, configuration, prices, clock_offset_ms, pids } = box;
    const name = host !== null && listen !== null ? boxName({ host, listen }) : 'a box';
    const facts = [
      health ?? 'of an older version, which says nothing of itself',
      version,
      configuration === null ? null : `configuration ${configuration}`,
      prices === null ? null : `prices ${prices}`,
      clock_offset_ms === null ? null : `clock ${offsetText(clock_offset_ms)}`,
      pluralize(pids.length, 'process', 'processes'),
    ];
    lines.push(line(`  ${name}`, facts.filter((fact) => fact !== null).join(', ')));
  }
  return lines;
}

function upstreamText(upstream: NonNullable<StatusReport['upstreams']>[number]): string {
  const { answered, refused, failed, last_failure, resting, unpriced } = upstream;
  const calls = `${answered} answered, ${refused} refused, ${failed} failed in 5 minutes`;
  const rests = resting.map(({ model, until }) => {
    return `; ${model} is left alone until ${until.slice(11, 19)} UTC`;
  });
  const bare = unpriced.map(({ model, unit }) => `; ${model} bills ${unit}, which has no price`);
  const counts = calls + rests.join('') + bare.join('');
  if (!last_failure) return counts;
  const { time, fault, message } = last_failure;
  return `${counts}; last failure at ${time?.slice(11, 19)} UTC, ${fault}: ${message}`;
}
