import { OTHER_UNITS, TOKEN_CLASSES } from '../core/usage.js';
import { formatDollars } from '../lib/money.js';
import { usageOfEntry, type LedgerEntry } from '../store/ledger/ledger-columns.js';
import type { Store } from '../store/store-types.js';
import { ACCOUNT_FIELD, listAction, type Page } from './action.js';
import { isNumber } from './cursor.js';
import { profitOfOne } from './profit-shapes.js';
import { entryShape, isoTime } from './shapes.js';

const PAGE = 1_000;

export const listLedger = listAction({
  name: 'ledger',
  schema: 'ledger-query',
  fields: { account_id: ACCOUNT_FIELD },
  rows(
    { store },
    { account_id, reference }: { account_id: string; reference?: string },
    { limit, after },
  ) {
    const before = isNumber(after) ? after : Number.MAX_SAFE_INTEGER;
    return store.ledger(account_id, {
      before,
      limit,
      ...(reference !== undefined && { reference }),
    });
  },
  place: { of: ({ id }) => id, is: isNumber },
  routes: [
    {
      method: 'GET',
      path: '/api/ledger',
      id: 'getLedger',
      summary: 'List credits, charges and refunds, newest first, page by page',
      status: 200,
      answer: 'Ledger',
    },
    {
      method: 'GET',
      path: '/api/accounts/:accountID/ledger',
      scope: 'ledger:read',
      id: 'getAccountLedger',
      summary: 'List credits, charges and refunds of an account, newest first, page by page',
      status: 200,
      answer: 'Ledger',
    },
  ],
  shape: (entry, { is_operator }) => entryShape(entry, is_operator),
  csv: {
    file: 'ledger.csv',
    columns: ({ is_operator }) => [
      'id',
      'created',
      'kind',
      'amount',
      'uncollected',
      'estimated',
      'model',
      'key',
      'reference',
      'refund_of',
      ...['prompt_tokens', 'completion_tokens', ...TOKEN_CLASSES, ...OTHER_UNITS].map(
        (unit) => `usage.${unit}`,
      ),
      'agent',
      'saved',
      'lost',
      ...(is_operator ? ['cost', 'profit'] : []),
    ],
  },
  command: {
    about: 'show what an account was credited and charged',
    example: 'tollgate ledger alice --since 3d',
    find: ({ store }, { account_id }, page) => newestEntries(store, account_id, page),
    document: entryDocument,
    columns: async (entry, names) =>
      entryColumns(entry, entry.key_id && (await names.key(entry.key_id))),
    none: ({ account }) => `${account?.name} has no entry yet.`,
  },
});

/** The newest entries of an account, oldest first. They are read in pages from the newest on. */
async function newestEntries(
  store: Store,
  account_id: string,
  { limit, since_ms = -Infinity }: Page,
): Promise<LedgerEntry[]> {
  const found: LedgerEntry[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; found.length < limit;) {
    const page = await store.ledger(account_id, { before, limit: PAGE });
    const wanted = page.filter(({ created_ms }) => created_ms >= since_ms);
    found.push(...wanted);
    if (page.length < PAGE || wanted.length < page.length) break;
    before = page.at(-1)?.id ?? 0;
  }
  return found.slice(0, limit).reverse();
}

/** All that is known of an entry, for programs of the operator. */
function entryDocument(entry: LedgerEntry) {
  return {
    id: entry.id,
    time: isoTime(entry.created_ms),
    kind: entry.kind,
    amount: formatDollars(entry.amount_nano),
    model: entry.model,
    provider: entry.provider,
    upstream_model: entry.upstream_model,
    usage: usageOfEntry(entry),
    estimated: entry.estimated,
    uncollected: formatDollars(entry.uncollected_nano),
    saved: formatDollars(entry.saved_nano ?? 0n),
    lost: formatDollars(entry.lost_nano ?? 0n),
    ...profitOfOne(-entry.amount_nano, entry.cost_nano),
    agent: entry.agent,
    key: entry.key_id,
    reference: entry.reference,
    refund_of: entry.refund_of,
  };
}

/** An entry as a row of a table, which needs no columns for what most entries do not have. */
function entryColumns(entry: LedgerEntry, key_name: string | null) {
  const { estimated, uncollected, saved, lost, cost, profit, agent, key, ...others } =
    entryDocument(entry);
  const { reference, refund_of, upstream_model: _upstream_model, ...rest } = others;
  const hasProfit = profit !== null && Number(profit) !== 0;
  return {
    ...rest,
    cost: hasProfit ? cost : null,
    profit: hasProfit ? profit : null,
    estimated: estimated || null,
    uncollected: entry.uncollected_nano > 0n ? uncollected : null,
    saved: entry.saved_nano === null ? null : saved,
    lost: entry.lost_nano === null ? null : lost,
    agent,
    key_name,
    key,
    reference,
    refund_of,
  };
}
