import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { GatewayError } from '../../core/errors.js';
import { assetPath } from '../pages/assets.js';

const SCRIPT = 'text/javascript; charset=utf-8';

/** The files of the package with their types. Without its charset the script breaks. */
const PACKAGED: ReadonlyMap<string, string> = new Map([
  ['swagger-ui-bundle.js', SCRIPT],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
]);

/** Starts the page, and corrects markup that a screen reader cannot handle. */
const START = `const dark = window.matchMedia('(prefers-color-scheme: dark)');
const colour = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', colour);
colour();

const reference = document.querySelector('#reference');
new MutationObserver(() => {
  for (const select of reference.querySelectorAll('select:not([aria-label])')) {
    select.setAttribute('aria-label', select.id === 'servers' ? 'Server' : 'Value');
  }
  for (const example of reference.querySelectorAll('pre.microlight:not([tabindex])')) {
    example.setAttribute('tabindex', '0');
  }
}).observe(reference, { childList: true, subtree: true });

window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  syntaxHighlight: false,
});
`;

const folder = import.meta.resolve('swagger-ui-dist/package.json');
/**
 * Changes with the package and with the script above, so that browsers may keep the files for good.
 */
const version = `${packageVersion()}-${hash('sha256', START).slice(0, 8)}`;

const read = new Map<string, Promise<Buffer>>();

/** A page that shows `/openapi.json`. It loads nothing from other sites. */
export function referencePage(): string {
  const at = `/docs/${version}`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Tollgate: API reference</title>
    <link rel="icon" type="image/png" href="${at}/favicon-32x32.png" />
    <link rel="stylesheet" href="${at}/swagger-ui.css" />
    <link rel="stylesheet" href="${assetPath('reference.css')}" />
  </head>
  <body>
    <div id="reference">
      <noscript>
        <p>This page needs JavaScript; <a href="/openapi.json">what it shows</a> does not.</p>
      </noscript>
    </div>
    <script src="${at}/swagger-ui-bundle.js"></script>
    <script src="${at}/start.js"></script>
  </body>
</html>
`;
}

/** A file of the page. Throws `GatewayError` (404) for one that it does not need. */
export async function referenceFile(
  wanted_version: string,
  name: string,
): Promise<{ type: string; bytes: Buffer }> {
  const type = name === 'start.js' ? SCRIPT : PACKAGED.get(name);
  if (wanted_version !== version || type === undefined) {
    throw new GatewayError('not_found', 'There is no such file.');
  }
  const bytes = read.get(name) ?? load(name);
  read.set(name, bytes);
  return { type, bytes: await bytes };
}

async function load(name: string): Promise<Buffer> {
  return name === 'start.js' ? Buffer.from(START) : readFile(new URL(name, folder));
}

function packageVersion(): string {
  return (JSON.parse(readFileSync(new URL(folder), 'utf8')) as { version: string }).version;
}
