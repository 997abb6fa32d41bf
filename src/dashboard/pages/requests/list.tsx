import type { JSX } from 'preact';
import { listRequests } from '../../../actions/request-list.js';
import { actionCaller, operatorCaller } from '../../action-context.js';
import { sendListCsv, wantsCsv } from '../../csv-answer.js';
import { accountNames } from '../account-names.js';
import { ListPage, readListRows, wholeList } from '../list-page.js';
import { readableOf, readRequestQuery, requestsPath } from '../../views/request-query.js';
import type { RequestQuery, WrongFilter } from '../../views/request-query.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import type { RequestRecord } from '../../../core/request-record.js';
import { seeOther } from '../../redirect.js';
import { sendPage } from '../page.js';
import { Empty, Notice, TRY_PLAYGROUND } from '../parts.js';
import { Filters, Search, Spans } from './filters.js';
import { isVisible, requestPath, SCOPES, within, type Scope } from './scope.js';
import { requestColumns } from './table.js';

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
      const wanted = ctx.query.id;
      const typed = typeof wanted === 'string' ? wanted.trim().slice(0, TYPED_CHARACTERS) : '';
      const found = await find(typed, scope, visitor, services);
      if (found) return seeOther(ctx, requestPath(scope, found.id));
      await show(ctx, { typed, scope, visitor, services });
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

function statusOf(typed: string, wrong: WrongFilter): number {
  if (Object.keys(wrong).length > 0) return 400;
  return typed === '' ? 200 : 404;
}

/** Lists nothing if a part of the filter is invalid: without it, too many requests would match. */
async function show(ctx: DashboardContext, input: ListInput): Promise<void> {
  const { typed, scope, visitor, services } = input;
  const { store, now } = services;
  const { query, wrong } = readableOf(
    await namedQuery(readRequestQuery(ctx.query), scope, services),
  );
  const isWrong = Object.keys(wrong).length > 0;
  const state = isWrong ? 'unread' : Object.keys(query).length > 0 ? 'filtered' : 'all';
  const caller = scope.is_operator
    ? operatorCaller(ctx, visitor)
    : { ...actionCaller(ctx, visitor), is_operator: false };
  const wanted = within(scope, visitor, query);
  if (wantsCsv(ctx) && !isWrong) return sendListCsv(listRequests, wanted, caller, ctx, services);
  const [list, keys] = await Promise.all([
    isWrong ? wholeList([]) : readListRows(listRequests, wanted, caller, ctx, services),
    wanted.account === undefined ? [] : store.keys(wanted.account),
  ]);
  const names = {
    keys: new Map(keys.map(({ id, name }) => [id, name])),
    accounts: await accountNames(scope.is_operator ? list.rows : [], services),
  };
  const body = (
    <>
      {typed !== '' && <Notice colour="warn">There is no request {typed} here.</Notice>}
      <div class="stack">
        <Spans query={query} scope={scope} now_ms={now()} />
        <Filters {...{ query, wrong, scope, keys, names, services }} />
      </div>
      <ListPage
        {...list}
        label={scope.title}
        columns={requestColumns(scope, names, now())}
        empty={<NoRequest state={state} path={scope.path} />}
        pathTo={(words) => requestsPath(scope.path, query, words)}
        first="Newest requests"
        next="Older requests"
      />
    </>
  );
  const page = {
    title: scope.title,
    about: ABOUT[scope.path],
    actions: <Search scope={scope} typed={typed} />,
    body,
  };
  sendPage(ctx, visitor, page, statusOf(typed, wrong));
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
    <Empty
      title={title}
      link={state === 'all' ? TRY_PLAYGROUND : { href: path, text: 'Clear the filter' }}
    >
      <p>{text}</p>
    </Empty>
  );
}
