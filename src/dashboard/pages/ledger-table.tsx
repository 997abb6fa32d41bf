import type { JSX } from 'preact';
import { TOKEN_CLASSES, type TokenClass } from '../../core/usage.js';
import { listLedger } from '../../actions/ledger-list.js';
import { actionCaller } from '../action-context.js';
import { sendListCsv } from '../csv-answer.js';
import type { DashboardContext, DashboardServices, Visitor } from '../types.js';
import { ListPage, readListRows } from './list-page.js';
import { Ago, Badge, Empty, Money } from './parts.js';
import type { Column } from './table.js';
import { usageText } from './usage-text.js';
import { formatCount } from './formatting.js';
import { isRecord } from '../../lib/objects.js';
import type { Key } from '../../store/keys/keys.js';
import { usageOfEntry, type LedgerEntry } from '../../store/ledger/ledger-columns.js';

interface EntryLinks {
  /** The list of requests that a charge leads to. */
  requests: '/requests' | '/operator/requests';
  /** A link or a button for an entry. */
  action?: (entry: LedgerEntry) => JSX.Element | null;
}

interface Shown {
  keys: readonly Key[];
  now_ms: number;
}

interface LedgerProps extends EntryLinks {
  account_id: string;
  ctx: DashboardContext;
  visitor: Visitor | undefined;
  services: DashboardServices;
  pathTo: (words: object) => string;
}

/** Answers with the whole ledger as a file. */
export function sendLedgerCsv(
  account_id: string,
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
): Promise<void> {
  return sendListCsv(listLedger, { account_id }, actionCaller(ctx, visitor), ctx, services);
}

/** Credits, charges and refunds, newest first. */
export async function ledgerList(props: LedgerProps): Promise<JSX.Element> {
  const { account_id, ctx, visitor, services, pathTo } = props;
  const [list, keys] = await Promise.all([
    readListRows(listLedger, { account_id }, actionCaller(ctx, visitor), ctx, services),
    services.store.keys(account_id),
  ]);
  const empty = (
    <Empty title="No entry yet">
      <p>Credits, charges and refunds appear here.</p>
    </Empty>
  );
  return (
    <ListPage
      {...list}
      label="Activity"
      columns={ledgerColumns({ ...props, keys, now_ms: services.now() })}
      empty={empty}
      pathTo={pathTo}
      first="Newest entries"
      next="Older entries"
    />
  );
}

/** The columns of ledger entries. */
export function ledgerColumns(props: EntryLinks & Shown): Column<LedgerEntry>[] {
  const { action, requests, keys, now_ms } = props;
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return [
    {
      head: 'Time',
      class: 'soft',
      cell: ({ created_ms }) => <Ago at_ms={created_ms} now_ms={now_ms} />,
    },
    {
      head: 'What',
      class: 'lead',
      cell: (entry) => <Description entry={entry} requests={requests} />,
    },
    {
      head: 'Key',
      class: 'soft breaks',
      cell: ({ key_id }) => key_id !== null && (names.get(key_id) ?? ''),
    },
    {
      head: 'Usage',
      class: 'soft nowrap',
      cell: (entry) => (
        <>
          {usageText(usageOfEntry(entry) ?? {})} {entry.estimated && <Badge>estimated</Badge>}
          <Classes {...entry} />
        </>
      ),
    },
    {
      head: 'Amount',
      class: 'number end',
      cell: ({ amount_nano, uncollected_nano }) => (
        <>
          <Amount nano={amount_nano} />
          {uncollected_nano > 0n && <Uncollected nano={uncollected_nano} />}
        </>
      ),
    },
    ...(action ? [{ class: 'number end', cell: action }] : []),
  ];
}

function Amount({ nano }: { nano: bigint }): JSX.Element {
  if (nano <= 0n) return <Money nano={nano} />;
  return (
    <Badge colour="good">
      +<Money nano={nano} />
    </Badge>
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
  cache_write_1h_tokens: 'written for an hour',
  audio_input_tokens: 'audio in',
  image_input_tokens: 'images in',
  audio_output_tokens: 'audio out',
  image_output_tokens: 'images out',
  reasoning_tokens: 'reasoning',
};

/** `tier flex · 64 reasoning · 2 × web_search`: the tokens of each class, and what else costs. */
function Classes(entry: LedgerEntry): JSX.Element | null {
  const counts = TOKEN_CLASSES.map((name) => [CLASS_WORDS[name], entry[name] ?? 0] as const);
  const { service_tier: tier, tool_calls } = usageOfEntry(entry) ?? {};
  const tools = isRecord(tool_calls) ? Object.entries(tool_calls) : [];
  const present = counts.filter(([, count]) => count > 0);
  const texts = [
    ...(typeof tier === 'string' ? [`tier ${tier}`] : []),
    ...present.map(([word, count]) => `${formatCount(count)} ${word}`),
    ...tools.map(([name, count]) => `${Number(count)} × ${name}`),
  ];
  if (texts.length === 0) return null;
  return <div class="hint">{texts.join(' · ')}</div>;
}
