import type { JSX } from 'preact';
import { revokeColumn, termColumns } from './keyring-list.js';
import { Money } from './parts.js';
import type { Column } from './table.js';
import { pluralize, formatAmount } from './formatting.js';
import type { Key } from '../../store/keys/keys.js';

interface KeysShown {
  spent: ReadonlyMap<string, bigint>;
  now_ms: number;
  /** Below this path, and the ID of a key, is the page that revokes it. */
  path: string;
}

const SPENT = 'Spent after refunds, 30 days';

/** The columns of keys, with their terms and their usage. */
export function keyColumns({ spent, now_ms, path }: KeysShown): Column<Key>[] {
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
    ...termColumns<Key>(now_ms),
    {
      head: SPENT,
      class: 'number',
      label: SPENT,
      cell: ({ id }) => <Money nano={spent.get(id) ?? 0n} />,
    },
    { head: 'Limit', class: 'number', label: 'Limit', cell: (key) => <Limit keyShown={key} /> },
    revokeColumn(path, now_ms),
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
