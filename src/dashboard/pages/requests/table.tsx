import type { JSX } from 'preact';
import { hasFailed, type RequestRecord } from '../../../core/request-record.js';
import { Ago, Money } from '../parts.js';
import { usageText } from '../usage-text.js';
import { formatMs } from '../formatting.js';
import { Flags, Outcome } from './outcome.js';
import { requestPath, type Scope } from './scope.js';

/** Names by ID. */
export interface RequestNames {
  keys: ReadonlyMap<string, string>;
  accounts: ReadonlyMap<string, string>;
}

/** A table of requests in the given order. */
export function RequestTable(props: {
  records: readonly RequestRecord[];
  names: RequestNames;
  scope: Scope;
  now_ms: number;
}): JSX.Element {
  const { records, scope } = props;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={scope.title}>
      <table class="fold requests">
        <thead>
          <tr>
            <th>Request</th>
            <th>Outcome</th>
            <th>Time</th>
            <th>{scope.is_operator ? 'Account' : 'Key'}</th>
            <th class="number">Usage</th>
            <th class="number">Took</th>
            <th class="number">Cost</th>
          </tr>
        </thead>
        <tbody>
          {records.map((record) => (
            <RequestRow record={record} {...props} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RequestRow(props: {
  record: RequestRecord;
  names: RequestNames;
  scope: Scope;
  now_ms: number;
}): JSX.Element {
  const { record, names, scope, now_ms } = props;
  const { id, account_id, key_id, first_token_ms } = record;
  return (
    <tr>
      <td class="lead">
        <a href={requestPath(scope, id)}>
          <strong>{record.model ?? 'no model'}</strong>
        </a>
        <div class="hint">
          {record.endpoint}
          {scope.is_operator && record.provider !== null && ` · ${record.provider}`}
        </div>
        <UpstreamMessage record={record} />
      </td>
      <td class="end">
        <Outcome record={record} /> <Flags record={record} />
      </td>
      <td class="soft">
        <Ago at_ms={record.time_ms} now_ms={now_ms} />
      </td>
      <td class="soft breaks">
        {scope.is_operator
          ? (names.accounts.get(account_id) ?? account_id)
          : (names.keys.get(key_id) ?? key_id)}
      </td>
      <td class="number soft">{usageText({ ...record, ...record.units })}</td>
      <td class="number soft" title={first_token_ms === null ? undefined : FIRST(first_token_ms)}>
        {formatMs(record.took_ms)}
      </td>
      <td class="number">
        <Money nano={record.cost_nano} />
      </td>
    </tr>
  );
}

const FIRST = (ms: number): string => `first token after ${formatMs(ms)}`;

/** The error message of the last upstream. */
function UpstreamMessage({ record }: { record: RequestRecord }): JSX.Element | null {
  const message = hasFailed(record) ? record.attempts.at(-1)?.message : undefined;
  return message ? <div class="hint fault">{message}</div> : null;
}
