import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { GatewayError } from '../../core/errors.js';

const SCRIPT = 'text/javascript; charset=utf-8';

/** The files of the package with their types. Without its charset the script breaks. */
const PACKAGED: ReadonlyMap<string, string> = new Map([
  ['swagger-ui-bundle.js', SCRIPT],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
]);

/**
 * Starts the page with the models of the visitor, in the theme that was chosen, and corrects markup
 * that a screen reader cannot handle.
 */
const START = `const root = document.documentElement;
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const colour = () => {
  const theme = root.dataset.theme;
  root.classList.toggle('dark-mode', theme ? theme === 'dark' : dark.matches);
};
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

const withModels = (schema, spec, models) => {
  const name = schema?.$ref?.split('/').pop();
  const whole = name ? spec.components.schemas[name] : schema;
  if (!whole?.properties?.model) return schema;
  const model = { ...whole.properties.model, enum: models, example: models[0] };
  return { ...whole, properties: { ...whole.properties, model } };
};

const addModels = (spec) => {
  const { models = {}, paths = {} } = JSON.parse(reference.dataset.models || '{}');
  for (const [path, capability] of Object.entries(paths)) {
    for (const operation of Object.values(spec.paths[path] ?? {})) {
      for (const content of Object.values(operation.requestBody?.content ?? {})) {
        content.schema = withModels(content.schema, spec, models[capability]);
      }
      for (const parameter of operation.parameters ?? []) {
        if (parameter.in !== 'path' || parameter.name !== 'model') continue;
        parameter.schema = { ...parameter.schema, enum: models[capability] };
      }
    }
  }
  return spec;
};

fetch('/openapi.json')
  .then((answer) => answer.json())
  .then((spec) =>
    window.SwaggerUIBundle({
      spec: addModels(spec),
      dom_id: '#reference',
      validatorUrl: null,
      defaultModelsExpandDepth: 0,
      syntaxHighlight: false,
    }),
  );
`;

const folder = import.meta.resolve('swagger-ui-dist/package.json');
/**
 * Changes with the package and with the script above, so that browsers may keep the files for good.
 */
const version = `${packageVersion()}-${hash('sha256', START).slice(0, 8)}`;

const read = new Map<string, Promise<Buffer>>();

/** The path of a file of the page. */
export function referencePath(name: string): string {
  return `/reference/${version}/${name}`;
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
