import type { ComponentChildren, JSX } from 'preact';
import { isActive } from '../../actions/key-list.js';
import type { Key } from '../../store/keys/keys.js';
import { ListPage, addressOf, wholeList } from './list-page.js';
import { Ago, Badge } from './parts.js';
import { Table, type Column } from './table.js';
import { pluralize } from './formatting.js';

/** What keys and tokens have in common. */
type Terms = Pick<Key, 'id' | 'name' | 'last_used_ms' | 'expires_ms' | 'revoked_ms'>;

/** A list of keys or tokens; those that have ended stand in a block that opens on a click. */
export function KeyringList<Row extends Terms>(props: {
  label: string;
  noun: 'key' | 'token';
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  /** The text where none is active. */
  empty: ComponentChildren;
  path: string;
  now_ms: number;
}): JSX.Element {
  const { label, noun, rows, columns, empty, path, now_ms } = props;
  const active = rows.filter((row) => isActive(row, now_ms));
  const ended = rows.filter((row) => !isActive(row, now_ms));
  return (
    <ListPage
      {...wholeList(active)}
      {...{ label, columns, empty }}
      pathTo={(words) => addressOf(path, { ...words })}
    >
      {ended.length > 0 && (
        <details class="card">
          <summary>{pluralize(ended.length, noun)} revoked or expired</summary>
          <Table label={label} columns={columns} rows={ended} />
        </details>
      )}
    </ListPage>
  );
}

/** When a key or a token was last used, and when it expires. */
export function termColumns<Row extends Terms>(now_ms: number): Column<Row>[] {
  return [
    {
      head: 'Last used',
      class: 'soft',
      label: 'Last used',
      cell: ({ last_used_ms: at_ms }) =>
        at_ms === null ? 'never' : <Ago at_ms={at_ms} now_ms={now_ms} />,
    },
    {
      head: 'Expires',
      class: 'soft',
      label: ({ revoked_ms }) => (revoked_ms === null ? 'Expires' : undefined),
      cell: (row) => <Expiry of={row} now_ms={now_ms} />,
    },
  ];
}

/** The link to the page that revokes a key or a token; it is below `path`. */
export function revokeColumn<Row extends Terms>(path: string, now_ms: number): Column<Row> {
  return {
    class: 'number end',
    cell: (row) =>
      isActive(row, now_ms) && (
        <a
          class="button plain bad"
          href={`${path}/${encodeURIComponent(row.id)}/revoke`}
          aria-label={`Revoke ${row.name}`}
        >
          Revoke
        </a>
      ),
  };
}

function Expiry(props: { of: Terms; now_ms: number }): JSX.Element {
  const { revoked_ms, expires_ms } = props.of;
  if (revoked_ms !== null) return <Badge colour="bad">revoked</Badge>;
  if (expires_ms === null) return <>never</>;
  if (expires_ms <= props.now_ms) return <Badge colour="warn">expired</Badge>;
  return <Ago at_ms={expires_ms} now_ms={props.now_ms} />;
}
