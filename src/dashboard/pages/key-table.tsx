import type { JSX } from 'preact';
import { isActive } from '../../actions/key-list.js';
import { Ending, LastUsed, Money, RevokeLink } from './parts.js';
import { Table, type Column } from './table.js';
import { pluralize, formatAmount } from './formatting.js';
import type { Key } from '../../store/keys/keys.js';

interface ShownKeys {
  keys: readonly Key[];
  spent: ReadonlyMap<string, bigint>;
  now_ms: number;
  /** Below this path, and the ID of a key, is the page that revokes it. */
  path: string;
}

/** A table of keys with their terms and their usage. */
export function KeyTable(props: ShownKeys): JSX.Element {
  return <Table label="API Keys" columns={columnsOf(props)} rows={props.keys} />;
}

const SPENT = 'Spent after refunds, 30 days';

function columnsOf({ spent, now_ms, path }: ShownKeys): Column<Key>[] {
  return [
    {
      head: 'Name',
      class: 'lead',
      cell: ({ name, models }) => (
        <>
          <strong>{name}</strong>
          <Models models={models} />
        </>
      ),
    },
    {
      head: 'Key',
      cell: ({ id, prefix }) => (
        <>
          <code class="nowrap soft">{prefix}…</code>
          <div class="hint">
            <code class="nowrap">{id}</code>
          </div>
        </>
      ),
    },
    {
      head: 'Last used',
      class: 'soft',
      label: 'Last used',
      cell: ({ last_used_ms }) => <LastUsed at_ms={last_used_ms} now_ms={now_ms} />,
    },
    {
      head: 'Expires',
      class: 'soft',
      label: ({ revoked_ms }) => (revoked_ms === null ? 'Expires' : undefined),
      cell: (key) => <Ending of={key} now_ms={now_ms} />,
    },
    {
      head: SPENT,
      class: 'number',
      label: SPENT,
      cell: ({ id }) => <Money nano={spent.get(id) ?? 0n} />,
    },
    { head: 'Limit', class: 'number', label: 'Limit', cell: (key) => <Limit keyShown={key} /> },
    {
      class: 'number end',
      cell: (key) => isActive(key, now_ms) && <RevokeLink of={key} path={path} />,
    },
  ];
}

function Models({ models }: { models: readonly string[] | null }): JSX.Element | null {
  if (models === null) return null;
  const [first = '', ...others] = models;
  return (
    <div class="hint" title={models.join(', ')}>
      only {first}
      {others.length > 0 && ` and ${pluralize(others.length, 'other')}`}
    </div>
  );
}

function Limit({ keyShown }: { keyShown: Key }): JSX.Element {
  const { limit_nano, spent_nano } = keyShown;
  if (limit_nano === null) return <span class="faint">none</span>;
  return (
    <>
      <Money nano={spent_nano} /> <span class="faint">of {formatAmount(limit_nano)}</span>
    </>
  );
}
