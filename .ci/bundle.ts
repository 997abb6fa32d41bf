import { build, type BuildOptions } from 'esbuild';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const OUT = `${ROOT}dist/`;

const { dependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
  dependencies: Record<string, string>;
};

/** Packages that every command needs. Those that require modules of Node.js stay outside. */
const BUNDLED = new Set(['yaml', 'ipaddr.js']);

/**
 * Most of what a command takes is the search for its files, so the code of many files goes into
 * few. The YAML parser alone is 70 files, and every command that reads gateway.yaml needs it.
 */
export const BUNDLE = {
  absWorkingDir: ROOT,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: Object.keys(dependencies).filter((name) => !BUNDLED.has(name)),
  // The modules of the same parser, which the bundler can put into one scope.
  alias: { yaml: `${ROOT}node_modules/yaml/browser/dist/index.js` },
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** Modules that are found by their names, such as adapters, each loaded only where it is used. */
function modulesOf(folder: string): string[] {
  const files = readdirSync(ROOT + folder).filter((name) => name.endsWith('.ts'));
  return files.map((name) => `${folder}/${name}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const folder of ['src', 'providers']) rmSync(OUT + folder, { recursive: true, force: true });
  await build({
    ...BUNDLE,
    entryPoints: [
      'src/cli/main.ts',
      'src/lib/media-process.ts',
      ...modulesOf('providers'),
      ...modulesOf('providers/exports'),
    ],
    outbase: ROOT,
    outdir: OUT,
    splitting: true,
    // As deep as the files of src/, which find providers/ from where they stand.
    chunkNames: 'src/chunks/[name]-[hash]',
    sourcemap: true,
    sourcesContent: false,
  });
  // Browsers load this module too, so it is a file of its own.
  await build({
    ...BUNDLE,
    entryPoints: ['src/dashboard/pages/call-code.ts'],
    outbase: ROOT,
    outdir: OUT,
    platform: 'browser',
  });
}
