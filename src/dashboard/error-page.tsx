import type { JSX } from 'preact';
import type { GatewayError } from '../core/errors.js';
import { FramedPage, html, LonePage, themeOf } from './pages/page.js';
import { signInAddress } from './return-to.js';
import type { Visitor } from './types.js';
import type { Context } from '../pipeline/stage.js';

const TITLES: Record<number, string> = {
  400: 'That did not work',
  401: 'Sign in first',
  403: 'Not allowed',
  404: 'Nothing here',
  405: 'Not like that',
  413: 'Too large',
  429: 'Too many attempts',
  502: 'Another service did not answer',
};

/** The lists to go back to from the pages below them. */
const LISTS: Record<string, string> = {
  '/docs': 'all documents',
  '/models': 'all models',
  '/requests': 'your requests',
  '/settings/keys': 'your API keys',
  '/sign-in': 'the sign-in page',
  '/operator/accounts': 'all accounts',
  '/operator/requests': 'all requests',
  '/operator/tokens': 'all tokens',
};

interface Shown {
  ctx: Context;
  error: GatewayError;
  status: number;
  /** The page that the sign-in link leads to afterwards. */
  return_to: string;
}

function listOf(path: string): string | undefined {
  return Object.keys(LISTS).find((list) => path.startsWith(`${list}/`));
}

/** Links to the page without the invalid filter, to the list above it, or to the dashboard. */
function WayOut({ ctx, error, status }: Omit<Shown, 'return_to'>): JSX.Element {
  const list = listOf(ctx.path);
  const isSignIn = list === '/sign-in';
  const isFilter = status === 400 && ctx.method === 'GET' && ctx.querystring !== '' && !isSignIn;
  const isOpen = status === 404 || status === 400;
  return (
    <>
      {isFilter && (
        <a class="button solid" href={error.param === 'cursor' ? firstPage(ctx) : ctx.path}>
          {error.param === 'cursor' ? 'To the first page' : 'Clear the filter'}
        </a>
      )}
      {!isFilter && isOpen && list !== undefined && (
        <a class="button solid" href={list}>
          To {LISTS[list]}
        </a>
      )}
      <a class={isFilter || (isOpen && list !== undefined) ? 'button' : 'button solid'} href="/">
        To the dashboard
      </a>
    </>
  );
}

/** The first page of a list, with the same filter. */
function firstPage({ path, querystring }: Context): string {
  const words = new URLSearchParams(querystring);
  words.delete('cursor');
  return words.size === 0 ? path : `${path}?${words.toString()}`;
}

/**
 * The HTML document of an error, with a link to go on. A signed-in visitor gets it with the menu.
 * `return_to` is the page to open after sign-in.
 */
export function errorPage(
  ctx: Context,
  error: GatewayError,
  status: number,
  { visitor, return_to = '/' }: { visitor?: Visitor | undefined; return_to?: string },
): string {
  const title = TITLES[status] ?? 'Something went wrong';
  const shown = { ctx, error, status, return_to };
  if (visitor) {
    const body = (
      <div class="card">
        <div class="body stack">
          <About {...shown} />
        </div>
      </div>
    );
    const page = { title, at: listOf(ctx.path) ?? ctx.path, narrow: true, body };
    return html(<FramedPage {...{ ctx, visitor, page }} />);
  }
  const body = (
    <div class="stack">
      <p class="hint">Error {status}</p>
      <h1>{title}</h1>
      <About {...shown} />
    </div>
  );
  return html(<LonePage title={title} theme={themeOf(ctx)} body={body} />);
}

function About({ ctx, error, status, return_to }: Shown): JSX.Element {
  const retry_after = error.headers['retry-after'];
  return (
    <>
      <p>{error.message}</p>
      {retry_after !== undefined && <p>Try again in {retry_after} seconds.</p>}
      <div class="row">
        {status === 401 ? (
          <a class="button solid" href={signInAddress('/sign-in', return_to)}>
            Sign in
          </a>
        ) : (
          <WayOut {...{ ctx, error, status }} />
        )}
      </div>
      <p class="hint">
        If you ask an operator about this error, quote the request ID{' '}
        <code>{ctx.state.request_id}</code>
      </p>
    </>
  );
}
