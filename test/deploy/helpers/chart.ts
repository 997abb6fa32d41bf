import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The folder of the Helm chart. */
export const CHART = join(ROOT, 'deploy/helm');

/** What `helm template` makes of the chart's own values, behind a line with the chart's hash. */
export const RENDERED = join(ROOT, 'test/fixtures/helm/rendered.yaml');

/** Of all files of the chart: whether `RENDERED` is of these. */
export function chartHash(): string {
  const hash = createHash('sha256');
  const files = readdirSync(CHART, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  for (const file of files.toSorted()) {
    hash.update(`${file.slice(CHART.length)}\n`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** The line above the rendered manifests. */
export const headOf = (hash: string): string =>
  `# Made by \`npm run test:helm\` of the chart with the SHA-256 ${hash}\n`;
