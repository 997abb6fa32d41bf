import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../lib/package-root.js';
import type { DashboardContext, Route } from '../types.js';
import { GatewayError } from '../../core/errors.js';

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** Assets written by hand, and the browser scripts that `npm run build` compiles. */
const FOLDERS = ['src/dashboard/assets', 'dist/src/dashboard/client'];
/** Modules that browsers and the gateway share: they load nothing else. */
const SHARED: Readonly<Record<string, string>> = {
  'call-code.js': join(packageRoot, 'dist/src/dashboard/pages/call-code.js'),
  'marked.js': fileURLToPath(import.meta.resolve('marked')),
};

interface Asset {
  bytes: Buffer;
  type: string;
}

interface Assets {
  /** One hash of all assets, so that a script can import another by its relative path. */
  hash: string;
  byName: ReadonlyMap<string, Asset>;
}

let loaded: Assets | undefined;

/** The path of an asset, which changes with its content. */
export function assetPath(name: string): string {
  loaded ??= load();
  return `/assets/${loaded.hash}/${name}`;
}

/** Serves the assets to everybody. A path holds the hash, so its content never changes. */
export const assetRoute: Route = {
  method: 'GET',
  path: '/assets/:hash/:name',
  access: 'public',
  answer: (ctx) => answer(ctx),
};

function answer(ctx: DashboardContext): void {
  loaded ??= load();
  const { hash = '', name = '' } = ctx.params;
  const asset = hash === loaded.hash ? loaded.byName.get(name) : undefined;
  if (!asset) throw new GatewayError('not_found', 'There is no such file.');
  ctx.set('cache-control', 'public, max-age=31536000, immutable');
  ctx.type = asset.type;
  ctx.body = asset.bytes;
}

function load(): Assets {
  const hash = createHash('sha256');
  const byName = new Map<string, Asset>();
  for (const [name, path] of files()) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const bytes = readFileSync(path);
    hash.update(`${name} ${bytes.length} `).update(bytes);
    byName.set(name, { bytes, type });
  }
  return { hash: hash.digest('hex').slice(0, 16), byName };
}

/** The name and path of each file that there is. A checkout that is not built has no scripts. */
function files(): [name: string, path: string][] {
  const folders = FOLDERS.map((folder) => join(packageRoot, folder)).filter(existsSync);
  const isBuilt = folders.length === FOLDERS.length;
  const own = folders.flatMap((folder) =>
    readdirSync(folder)
      .sort()
      .map((name): [string, string] => [name, join(folder, name)]),
  );
  return isBuilt ? [...own, ...Object.entries(SHARED)] : own;
}
