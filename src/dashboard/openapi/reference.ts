import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { GatewayError } from '../../errors.js';

const SCRIPT = 'text/javascript; charset=utf-8';

/** The files that are the package's, and what they are: without its charset the script breaks. */
const PACKAGED: ReadonlyMap<string, string> = new Map([
  ['swagger-ui-bundle.js', SCRIPT],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
]);

const START = `window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  syntaxHighlight: false,
});
`;

const folder = import.meta.resolve('swagger-ui-dist/package.json');
/** Changes with the package and with what we say to it, so that its files may be kept for good. */
const version = `${packageVersion()}-${hash('sha256', START).slice(0, 8)}`;

const read = new Map<string, Promise<Buffer>>();

/** A page that shows `/openapi.json`. Everything that it needs comes from here. */
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
  </head>
  <body>
    <main id="reference">
      <noscript>
        <p>This page needs JavaScript; <a href="/openapi.json">what it shows</a> does not.</p>
      </noscript>
    </main>
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
