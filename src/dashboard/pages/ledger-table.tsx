import type { JSX } from 'preact';
import { TOKEN_CLASSES, type TokenClass } from '../../core/usage.js';
import { Ago, Badge, Money } from './parts.js';
import { usageText } from './usage-text.js';
import { formatCount } from './formatting.js';
import type { Key } from '../../store/keys/keys.js';
import { usageOfEntry, type LedgerEntry } from '../../store/ledger/ledger-columns.js';

/** A table of ledger entries in the given order. */
export function LedgerTable(props: {
  entries: readonly LedgerEntry[];
  keys: readonly Key[];
  /** A link or a button for an entry. */
  action?: (entry: LedgerEntry) => JSX.Element | null;
  /** The list of requests that a charge leads to. */
  requests: '/requests' | '/operator/requests';
  now_ms: number;
}): JSX.Element {
  const names = new Map(props.keys.map(({ id, name }) => [id, name]));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Activity">
      <table class="fold">
        <thead>
          <tr>
            <th>Time</th>
            <th>What</th>
            <th>Key</th>
            <th>Usage</th>
            <th class="number">Amount</th>
            {props.action && (
              <th>
                <span class="unseen">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {props.entries.map((entry) => (
            <tr>
              <td class="soft">
                <Ago at_ms={entry.created_ms} now_ms={props.now_ms} />
              </td>
              <td class="lead">
                <Description entry={entry} requests={props.requests} />
              </td>
              <td class="soft breaks">
                {entry.key_id !== null && (names.get(entry.key_id) ?? '')}
              </td>
              <td class="soft nowrap">
                {usageText(usageOfEntry(entry) ?? {})} {entry.estimated && <Badge>estimated</Badge>}
                <Classes {...entry} />
              </td>
              <td class="number end">
                <Amount nano={entry.amount_nano} />
                {entry.uncollected_nano > 0n && <Uncollected nano={entry.uncollected_nano} />}
              </td>
              {props.action && <td class="number act">{props.action(entry)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Amount({ nano }: { nano: bigint }): JSX.Element {
  if (nano <= 0n) return <Money nano={nano} />;
  return (
    <span class="gain">
      +<Money nano={nano} />
    </span>
  );
}

const RAISE =
  'The answer cost more than was held and could be collected. For a larger hold, raise ' +
  'max_tokens or image_tokens of the model, or hidden_tokens of its provider’s manifest.';

function Uncollected({ nano }: { nano: bigint }): JSX.Element {
  return (
    <div class="soft" title={RAISE}>
      <Badge colour="warn">
        <Money nano={nano} /> uncollected
      </Badge>
    </div>
  );
}

function Description(props: { entry: LedgerEntry; requests: string }): JSX.Element {
  const { kind, model, reference } = props.entry;
  if (kind === 'charge') {
    return (
      <a href={`${props.requests}?id=${encodeURIComponent(reference)}`}>
        <strong>{model}</strong>
      </a>
    );
  }
  return (
    <>
      <Badge colour="good">{kind === 'credit' ? 'Credit' : 'Refund'}</Badge>{' '}
      <span class="soft">{kind === 'credit' ? reference : model}</span>
    </>
  );
}

/** The classes of tokens, after a count. */
export const CLASS_WORDS: Record<TokenClass, string> = {
  cached_tokens: 'cached',
  cache_write_tokens: 'written to the cache',
  audio_input_tokens: 'audio in',
  audio_output_tokens: 'audio out',
  reasoning_tokens: 'reasoning',
};

/** `1,024 cached · 64 reasoning`: the tokens of each class. */
function Classes(entry: LedgerEntry): JSX.Element | null {
  const counts = TOKEN_CLASSES.map((name) => [CLASS_WORDS[name], entry[name] ?? 0] as const);
  const present = counts.filter(([, count]) => count > 0);
  if (present.length === 0) return null;
  return (
    <div class="faint small">
      {present.map(([word, count]) => `${formatCount(count)} ${word}`).join(' · ')}
    </div>
  );
}
