import type { JSX } from 'preact';
import { hasFailed, type RequestRecord } from '../../../core/request-record.js';
import { Ago, Money } from '../parts.js';
import type { Column } from '../table.js';
import { usageText } from '../usage-text.js';
import { formatMs } from '../formatting.js';
import { Flags, Outcome } from './outcome.js';
import { requestPath, type Scope } from './scope.js';

/** Names by ID. */
export interface RequestNames {
  keys: ReadonlyMap<string, string>;
  accounts: ReadonlyMap<string, string>;
}

/** The columns of a list of requests. */
export function requestColumns(
  scope: Scope,
  names: RequestNames,
  now_ms: number,
): Column<RequestRecord>[] {
  return [
    {
      head: 'Request',
      class: 'lead',
      cell: (record) => (
        <>
          <a href={requestPath(scope, record.id)}>
            <strong>{record.model ?? 'no model'}</strong>
          </a>
          <div class="hint">
            {record.endpoint}
            {record.agent !== null && ` · ${record.agent}`}
            {scope.is_operator && record.provider !== null && ` · ${record.provider}`}
          </div>
          <UpstreamMessage record={record} />
        </>
      ),
    },
    {
      head: 'Outcome',
      class: 'end',
      cell: (record) => (
        <>
          <Outcome record={record} /> <Flags record={record} />
        </>
      ),
    },
    {
      head: 'Time',
      class: 'soft',
      cell: ({ time_ms }) => <Ago at_ms={time_ms} now_ms={now_ms} />,
    },
    {
      head: scope.is_operator ? 'Account' : 'Key',
      class: 'soft breaks',
      cell: ({ account_id, key_id }) =>
        scope.is_operator
          ? (names.accounts.get(account_id) ?? account_id)
          : (names.keys.get(key_id) ?? key_id),
    },
    {
      head: 'Usage',
      class: 'number soft',
      cell: (record) => usageText({ ...record, ...record.units }),
    },
    { head: 'Took', class: 'number soft', cell: (record) => <Took record={record} /> },
    {
      head: 'Cost',
      class: 'number',
      cell: ({ cost_nano }) => <Money nano={cost_nano} />,
    },
  ];
}

function Took({ record: { took_ms, first_token_ms } }: { record: RequestRecord }): JSX.Element {
  const took = formatMs(took_ms);
  if (first_token_ms === null) return <>{took}</>;
  return <span title={`first token after ${formatMs(first_token_ms)}`}>{took}</span>;
}

/** The error message of the last upstream. */
function UpstreamMessage({ record }: { record: RequestRecord }): JSX.Element | null {
  const message = hasFailed(record) ? record.attempts.at(-1)?.message : undefined;
  return message ? <div class="wrong">{message}</div> : null;
}
