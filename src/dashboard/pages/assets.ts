import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
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
  who: 'all',
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
  // Pages work without scripts, and also in a checkout that is not built.
  for (const folder of FOLDERS.filter((path) => existsSync(join(packageRoot, path)))) {
    for (const name of readdirSync(join(packageRoot, folder)).sort()) {
      const type = TYPES[extname(name)];
      if (type === undefined) continue;
      const bytes = readFileSync(join(packageRoot, folder, name));
      hash.update(`${name} ${bytes.length} `).update(bytes);
      byName.set(name, { bytes, type });
    }
  }
  return { hash: hash.digest('hex').slice(0, 16), byName };
}
