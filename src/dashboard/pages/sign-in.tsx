import type { JSX } from 'preact';
import { returnTo, signInAddress } from '../return-to.js';
import type { DashboardServices, Route } from '../types.js';
import { sendLonePage } from './page.js';
import { seeOther } from '../redirect.js';

/** The sign-in page: a button for each provider, or how to get a link. */
export function signInRoute({ configuration }: DashboardServices): Route {
  const { public_url, sign_in } = configuration;
  const providers = [...sign_in.providers.values()];
  return {
    method: 'GET',
    path: '/sign-in',
    access: 'optional',
    answer: (ctx, visitor) => {
      const wanted = returnTo(ctx.query.return_to, public_url);
      if (visitor) {
        seeOther(ctx, wanted);
        return;
      }
      sendLonePage(
        ctx,
        'Sign in',
        <div class="stack">
          <div>
            <h1>Sign in</h1>
            <p class="soft">to your keys, your usage and the playground.</p>
          </div>
          {providers.map(({ name, title }) => (
            <a class="button" href={signInAddress(`/sign-in/${encodeURIComponent(name)}`, wanted)}>
              Continue with {title}
            </a>
          ))}
          <ByLink isOnly={providers.length === 0} />
        </div>,
      );
    },
  };
}

function ByLink({ isOnly }: { isOnly: boolean }): JSX.Element {
  const how = (
    <div class="stack">
      <p class="soft">
        On the machine of the gateway, the command line prints a link that works once:
      </p>
      <div class="code">
        <pre tabIndex={0} role="region" aria-label="command">
          <code>npx tollgate sign-in-link ACCOUNT</code>
        </pre>
      </div>
      <p class="hint">
        <code>npx tollgate account list</code> names the accounts;{' '}
        <code class="nowrap">--operator</code> makes you one who may see them all.
      </p>
    </div>
  );
  if (isOnly) return how;
  return (
    <details>
      <summary>Sign in with a link instead</summary>
      {how}
    </details>
  );
}
