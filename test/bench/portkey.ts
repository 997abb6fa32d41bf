import { start, temporaryFolder } from './child.js';
import { freePort } from '../helpers/free-port.js';
import { taken } from './ports.js';
import { systemOf, type System } from './system.js';

const PACKAGE = '@portkey-ai/gateway@1.15.2';
export const PEER = 'Portkey 1.15.2';
const WAIT_MS = 120_000;

/**
 * The TypeScript peer, fetched by npx into npm's cache and run from there: it is no dependency.
 * Throws where it cannot be fetched or does not start. It keeps no accounts.
 * Only JSON calls are held against it: from plain Node its streams end in an error of its own.
 */
export async function startPortkey(upstream_port: number): Promise<System> {
  const port = await freePort();
  const child = start('npx', ['--yes', PACKAGE, `--port=${port}`, '--headless'], {
    side: 'system',
    cwd: temporaryFolder(),
    env: { NODE_ENV: 'production' },
  });
  await taken(port, child, WAIT_MS);
  const headers = {
    authorization: 'Bearer bench',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstream_port}/v1`,
  };
  return systemOf(child, { name: PEER, kinds: ['json'], port, headers });
}
