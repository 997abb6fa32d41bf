import type { JSX } from 'preact';
import type { Limited } from '../../actions/shapes.js';
import { revokeColumn, termColumns } from './keyring-list.js';
import { hasLimits, LimitHints } from './limits.js';
import { Ago, Money } from './parts.js';
import type { Column } from './table.js';
import { pluralize, formatAmount } from './formatting.js';
import type { Key } from '../../store/keys/keys.js';

interface KeysShown {
  spent: ReadonlyMap<string, bigint>;
  now_ms: number;
  /** Below this path, and the ID of a key, are the pages that change it. */
  path: string;
}

const SPENT = 'Spent after refunds, 30 days';

/** The columns of keys, with their terms and their usage. */
export function keyColumns({ spent, now_ms, path }: KeysShown): Column<Limited<Key>>[] {
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
      cell: ({ id, prefix, previous_until_ms: until_ms, revoked_ms }) => (
        <>
          <code class="nowrap soft">{prefix}…</code>
          <div class="hint">
            <code class="nowrap">{id}</code>
          </div>
          {until_ms !== null && until_ms > now_ms && revoked_ms === null && (
            <div class="hint">
              old secret ends <Ago at_ms={until_ms} now_ms={now_ms} />
            </div>
          )}
        </>
      ),
    },
    ...termColumns<Limited<Key>>(now_ms),
    {
      head: SPENT,
      class: 'number',
      label: SPENT,
      cell: ({ id }) => <Money nano={spent.get(id) ?? 0n} />,
    },
    {
      head: 'Limit',
      class: 'number',
      label: 'Limit',
      cell: (key) => <Limit keyShown={key} now_ms={now_ms} />,
    },
    editColumn(path),
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

/** The links to the pages that change a key. */
function editColumn(path: string): Column<Limited<Key>> {
  return {
    class: 'number end',
    cell: ({ id, name, revoked_ms }) =>
      revoked_ms === null && (
        <>
          <a
            class="button plain"
            href={`${path}/${encodeURIComponent(id)}/edit`}
            aria-label={`Edit ${name}`}
          >
            Edit
          </a>
          <div>
            <a
              class="button plain"
              href={`${path}/${encodeURIComponent(id)}/rotate`}
              aria-label={`Rotate ${name}`}
            >
              Rotate
            </a>
          </div>
        </>
      ),
  };
}

function Limit({ keyShown, now_ms }: { keyShown: Limited<Key>; now_ms: number }): JSX.Element {
  const { limit_nano, spent_nano } = keyShown;
  if (limit_nano === null && !hasLimits(keyShown)) {
    return <span class="hint">none</span>;
  }
  return (
    <>
      {limit_nano !== null && (
        <>
          <Money nano={spent_nano} /> <span class="hint">of {formatAmount(limit_nano)}</span>
        </>
      )}
      <LimitHints of={keyShown} now_ms={now_ms} />
    </>
  );
}
