import type { JSX } from 'preact';
import type { Capability } from '../../core/model.js';
import type { Configuration } from '../../core/configuration.js';
import { assetPath } from '../pages/assets.js';
import { sendPage } from '../pages/page.js';
import type { DashboardContext, Visitor } from '../types.js';
import { referencePath } from './reference.js';

/** Models of one capability that a field offers. */
const MAX_OFFERED = 200;

/** Shows `/openapi.json` in the frame. It loads nothing from other sites. */
export function sendReference(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  configuration: Configuration,
): void {
  // Visitors who are not signed in see the API, but not the models of this gateway.
  const models = visitor && JSON.stringify(modelsAt(configuration));
  sendPage(ctx, visitor, {
    title: 'API Reference',
    about: (
      <>
        Every path of this gateway, with your models. As a file: <a href="/openapi.json">OpenAPI</a>
      </>
    ),
    head: <Head />,
    body: (
      <div class="card" id="reference" data-models={models}>
        <noscript>
          <p class="empty">
            This page needs JavaScript. <a href="/openapi.json">The OpenAPI document</a> does not.
          </p>
        </noscript>
      </div>
    ),
  });
}

function Head(): JSX.Element {
  return (
    <>
      <link rel="stylesheet" href={referencePath('swagger-ui.css')} />
      <link rel="stylesheet" href={assetPath('reference.css')} />
      <script defer src={referencePath('swagger-ui-bundle.js')} />
      <script defer src={referencePath('start.js')} />
    </>
  );
}

/** The IDs of the models by capability, and the capability that each path is for. */
function modelsAt({ models, endpoints }: Configuration): object {
  const paths: Record<string, Capability> = {};
  for (const { path, stages } of endpoints) {
    const route = stages.find(({ name }) => name === 'route')?.option;
    const capability = (route as { capability?: Capability } | undefined)?.capability;
    if (capability) paths[path] = capability;
  }
  const byCapability: Record<string, string[]> = {};
  for (const capability of new Set(Object.values(paths))) {
    byCapability[capability] = [...models.values()]
      .filter(({ capabilities }) => capabilities.has(capability))
      .slice(0, MAX_OFFERED)
      .map(({ id }) => id);
  }
  const offered = Object.entries(paths).filter(([, name]) => byCapability[name]?.length);
  return { models: byCapability, paths: Object.fromEntries(offered) };
}
