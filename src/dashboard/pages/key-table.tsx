import type { JSX } from 'preact';
import { leftOf, type Limited } from '../../actions/shapes.js';
import { revokeColumn, termColumns } from './keyring-list.js';
import { Ago, Money } from './parts.js';
import type { Column } from './table.js';
import { pluralize, formatAmount } from './formatting.js';
import type { Key } from '../../store/keys/keys.js';

interface KeysShown {
  spent: ReadonlyMap<string, bigint>;
  now_ms: number;
  /** Below this path, and the ID of a key, is the page that revokes it. */
  path: string;
  /** Whether its visitor may edit the keys on pages below the path. */
  is_own?: true;
}

const SPENT = 'Spent after refunds, 30 days';

/** The columns of keys, with their terms and their usage. */
export function keyColumns({ spent, now_ms, path, is_own }: KeysShown): Column<Limited<Key>>[] {
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
    ...(is_own ? [editColumn(path)] : []),
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
  const { limit_nano, spent_nano, allowances, rates } = keyShown;
  if (limit_nano === null && allowances.length === 0 && rates === null) {
    return <span class="faint">none</span>;
  }
  return (
    <>
      {limit_nano !== null && (
        <>
          <Money nano={spent_nano} /> <span class="faint">of {formatAmount(limit_nano)}</span>
        </>
      )}
      <Limits of={keyShown} now_ms={now_ms} />
    </>
  );
}

/** What is left of each allowance and when it returns, and the rates. */
function Limits({ of, now_ms }: { of: Limited<Key>; now_ms: number }): JSX.Element {
  return (
    <>
      {of.allowances.map((state) => (
        <div class="hint" key={state.window}>
          {state.window}: {formatAmount(leftOf(state))} of{' '}
          {formatAmount(state.amount_nano + state.extra_nano)} left
          {state.ends_ms > 0 && (
            <div>
              returns <Ago at_ms={state.ends_ms} now_ms={now_ms} />
            </div>
          )}
        </div>
      ))}
      {Object.entries(of.rates ?? {}).map(([name, rate]) => (
        <div class="hint" key={name}>
          {name.replaceAll('_', ' ')}: {rate}
        </div>
      ))}
    </>
  );
}
