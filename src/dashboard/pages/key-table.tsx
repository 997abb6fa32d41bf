import type { JSX } from 'preact';
import { isActive } from '../../actions/key-list.js';
import { Ago, Ending, Money } from './parts.js';
import { pluralize, formatAmount } from './formatting.js';
import type { Key } from '../../store/keys/keys.js';

/** A table of keys with their terms and their usage. */
export function KeyTable(props: {
  keys: readonly Key[];
  spent: ReadonlyMap<string, bigint>;
  now_ms: number;
  /** Below this path, and the ID of a key, is the page that revokes it. */
  path: string;
}): JSX.Element {
  const { keys, spent, now_ms, path } = props;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="API Keys">
      <table class="fold">
        <thead>
          <tr>
            <th>Name</th>
            <th>Key</th>
            <th>Last used</th>
            <th>Expires</th>
            <th class="number">Spent after refunds, 30 days</th>
            <th class="number">Limit</th>
            <th>
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr>
              <td class="lead">
                <strong>{key.name}</strong>
                <Models models={key.models} />
              </td>
              <td>
                <code class="nowrap soft">{key.prefix}…</code>
                <div class="hint">
                  <code class="nowrap">{key.id}</code>
                </div>
              </td>
              <td class="soft" data-label="Last used">
                {key.last_used_ms === null ? (
                  'never'
                ) : (
                  <Ago at_ms={key.last_used_ms} now_ms={now_ms} />
                )}
              </td>
              <td class="soft" data-label={key.revoked_ms === null ? 'Expires' : undefined}>
                <Ending of={key} now_ms={now_ms} />
              </td>
              <td class="number" data-label="Spent after refunds, 30 days">
                <Money nano={spent.get(key.id) ?? 0n} />
              </td>
              <td class="number" data-label="Limit">
                <Limit keyShown={key} />
              </td>
              <td class="number end">
                {isActive(key, now_ms) && <RevokeLink keyShown={key} path={path} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
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

function RevokeLink({ keyShown, path }: { keyShown: Key; path: string }): JSX.Element {
  return (
    <a
      class="button plain danger"
      href={`${path}/${encodeURIComponent(keyShown.id)}/revoke`}
      aria-label={`Revoke ${keyShown.name}`}
    >
      Revoke
    </a>
  );
}
