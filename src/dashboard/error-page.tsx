import type { JSX } from 'preact';
import type { GatewayError } from '../core/errors.js';
import { html, LonePage, themeOf } from './pages/page.js';
import type { Context } from '../pipeline/stage.js';

const TITLES: Record<number, string> = {
  400: 'That did not work',
  401: 'Sign in first',
  403: 'Not allowed',
  404: 'Nothing here',
  405: 'Not like that',
  413: 'Too large',
  429: 'Too many attempts',
  502: 'Somebody else did not answer',
};

/** The pages to go back to from those below them. */
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

/** The way to the page without its filter, to the list of such things, or to the first page. */
function WayOut({ ctx, status }: { ctx: Context; status: number }): JSX.Element {
  const list = Object.keys(LISTS).find((path) => ctx.path.startsWith(`${path}/`));
  const isSignIn = list === '/sign-in';
  const isFilter = status === 400 && ctx.method === 'GET' && ctx.querystring !== '' && !isSignIn;
  const isOpen = status === 404 || status === 400;
  return (
    <>
      {isFilter && (
        <a class="button solid" href={ctx.path}>
          Clear the filter
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

/** The HTML document of an error, with a link to go on. */
export function errorPage(ctx: Context, error: GatewayError, status: number): string {
  const title = TITLES[status] ?? 'Something went wrong';
  const retry_after = error.headers['retry-after'];
  return html(
    <LonePage
      title={title}
      theme={themeOf(ctx)}
      body={
        <div class="stack">
          <p class="faint figure">Error {status}</p>
          <h1>{title}</h1>
          <p>{error.message}</p>
          {retry_after !== undefined && <p>Try again in {retry_after} seconds.</p>}
          <div class="row">
            {status === 401 ? (
              <a class="button solid" href="/sign-in">
                Sign in
              </a>
            ) : (
              <WayOut ctx={ctx} status={status} />
            )}
          </div>
          <p class="hint">
            If you ask somebody about it, name this request: <code>{ctx.state.request_id}</code>
          </p>
        </div>
      }
    />,
  );
}
