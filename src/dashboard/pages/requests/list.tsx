import type { JSX } from 'preact';
import { isName, pageOf, readCursor } from '../../../actions/cursor.js';
import { readableOf, readRequestQuery, requestsPath } from '../../views/request-query.js';
import type { RequestQuery, WrongFilter } from '../../views/request-query.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import type { Key } from '../../../store/keys/keys.js';
import type { RequestRecord } from '../../../core/request-record.js';
import { seeOther } from '../../redirect.js';
import { sendPage } from '../page.js';
import { Card, Empty, Notice } from '../parts.js';
import { Filters, Search, Spans } from './filters.js';
import { isVisible, requestPath, SCOPES, within, type Scope } from './scope.js';
import { RequestTable, type RequestNames } from './table.js';

const PAGE = 50;
/** A UUID within the typed text, such as the ID of an answer. */
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/u;
const TYPED_CHARACTERS = 200;

/** The lists of requests, newest first: of an account, and of all for operators. */
export function requestsRoutes(services: DashboardServices): Route[] {
  return SCOPES.map((scope) => ({
    method: 'GET',
    path: scope.path,
    access: scope.access,
    answer: async (ctx, visitor) => {
      const wanted = ctx.query['id'];
      const typed = typeof wanted === 'string' ? wanted.trim().slice(0, TYPED_CHARACTERS) : '';
      const found = await find(typed, scope, visitor, services);
      if (found) return seeOther(ctx, requestPath(scope, found.id));
      const { body, wrong } = await listBody(ctx, { typed, scope, visitor, services });
      const page = {
        title: scope.title,
        about: ABOUT[scope.path],
        actions: <Search scope={scope} typed={typed} />,
        body,
      };
      sendPage(ctx, visitor, page, statusOf(typed, wrong));
    },
  }));
}

const ABOUT: Record<Scope['path'], string> = {
  '/requests':
    'Every call with your API keys, and how it ended. Prompts and answers are never stored.',
  '/operator/requests': 'The calls of all accounts. Prompts and answers are never stored.',
};

async function find(
  typed: string,
  scope: Scope,
  visitor: Visitor | undefined,
  { store }: DashboardServices,
): Promise<RequestRecord | undefined> {
  const id = ID.exec(typed.toLowerCase())?.[0];
  const record = id === undefined ? undefined : await store.requests.one(id);
  return record && isVisible(scope, visitor, record) ? record : undefined;
}

interface ListInput {
  typed: string;
  scope: Scope;
  visitor: Visitor | undefined;
  services: DashboardServices;
}

interface Listed {
  body: JSX.Element;
  wrong: WrongFilter;
}

function statusOf(typed: string, wrong: WrongFilter): number {
  if (Object.keys(wrong).length > 0) return 400;
  return typed === '' ? 200 : 404;
}

/** Lists nothing if a part of the filter is invalid: without it, too many requests would match. */
async function listBody(ctx: DashboardContext, input: ListInput): Promise<Listed> {
  const { typed, scope, visitor, services } = input;
  const { store, now } = services;
  const read = readableOf(await namedQuery(readRequestQuery(ctx.query), scope, services));
  const { query, wrong } = read;
  const filter = within(scope, visitor, read.filter);
  const isWrong = Object.keys(wrong).length > 0;
  const { cursor } = ctx.query;
  const before = typeof cursor === 'string' ? readCursor(cursor, isName) : undefined;
  const place = { limit: PAGE + 1, ...(before !== undefined && { before }) };
  const [records, keys] = await Promise.all([
    isWrong ? [] : store.requests.page({ ...filter, ...place }),
    filter.account_id === undefined ? [] : store.keys(filter.account_id),
  ]);
  const { rows, next_cursor: next } = pageOf(records, PAGE, ({ id }) => id);
  const names = await namesOf(rows, keys, scope, services);
  const state = isWrong ? 'unread' : Object.keys(query).length > 0 ? 'filtered' : 'all';
  const body = (
    <>
      {typed !== '' && <Notice colour="warn">There is no request {typed} here.</Notice>}
      <div class="stack">
        <Spans query={query} scope={scope} now_ms={now()} />
        <Filters {...{ query, wrong, scope, keys, names, services }} />
      </div>
      <Card flush>
        {rows.length > 0 ? (
          <RequestTable records={rows} names={names} scope={scope} now_ms={now()} />
        ) : (
          <NoRequest state={state} path={scope.path} />
        )}
      </Card>
      <Paging path={scope.path} query={query} is_later={before !== undefined} next={next} />
    </>
  );
  return { body, wrong };
}

/** The filter that the scope allows, with the ID of an account that was named by its name. */
async function namedQuery(
  query: RequestQuery,
  scope: Scope,
  { store }: DashboardServices,
): Promise<RequestQuery> {
  if (!scope.is_operator) {
    const own = { ...query };
    delete own.account;
    delete own.provider;
    return own;
  }
  if (query.account === undefined) return query;
  const account = await store.account(query.account);
  return account ? { ...query, account: account.id } : query;
}

async function namesOf(
  records: readonly RequestRecord[],
  keys: readonly Key[],
  scope: Scope,
  { store }: DashboardServices,
): Promise<RequestNames> {
  const ids = scope.is_operator ? [...new Set(records.map(({ account_id }) => account_id))] : [];
  const accounts = await Promise.all(ids.map((id) => store.account(id)));
  return {
    keys: new Map(keys.map(({ id, name }) => [id, name])),
    accounts: new Map(accounts.flatMap((one) => (one ? [[one.id, one.name] as const] : []))),
  };
}

function Paging(props: {
  path: string;
  query: RequestQuery;
  is_later: boolean;
  next: string | null;
}): JSX.Element | null {
  const { path, query, is_later, next } = props;
  if (!is_later && next === null) return null;
  return (
    <div class="row">
      {is_later && (
        <a class="button" href={requestsPath(path, query)}>
          Newest requests
        </a>
      )}
      {next !== null && (
        <a class="button" href={requestsPath(path, query, { cursor: next })}>
          Older requests
        </a>
      )}
    </div>
  );
}

type ListState = 'all' | 'filtered' | 'unread';

const EMPTY: Record<ListState, { title: string; text: string }> = {
  all: {
    title: 'No request yet',
    text: 'Every call with an API key appears here, answered or refused.',
  },
  filtered: {
    title: 'No such request',
    text: 'No request matches the whole filter.',
  },
  unread: {
    title: 'The filter cannot be read',
    text: 'Correct the filter or clear it to list requests.',
  },
};

function NoRequest({ state, path }: { state: ListState; path: string }): JSX.Element {
  const { title, text } = EMPTY[state];
  return (
    <Empty title={title}>
      <p>{text}</p>
      <a class="button" href={state === 'all' ? '/playground' : path}>
        {state === 'all' ? 'Try the Playground' : 'Clear the filter'}
      </a>
    </Empty>
  );
}
