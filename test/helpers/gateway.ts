import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino, type Logger } from 'pino';
import { ConfigError } from '../../src/config/config-error.js';
import { Gateway, checkOrThrow, type ValidCheck } from '../../src/gateway/gateway.js';
import { parseDollars } from '../../src/lib/money.js';
import type { SharedClock } from '../../src/lib/shared-clock.js';
import type { LogLines } from '../../src/telemetry/access-log.js';
import type { KeyTerms } from '../../src/store/keys/keys.js';
import { writeNewStore } from './new-store.js';

export interface TestGateway {
  gateway: Gateway;
  /** `http://127.0.0.1:PORT`, without `/v1`. */
  url: string;
  folder: string;
  file: string;
  account: { id: string; name: string };
  /** The secret of an API key of that account. */
  secret: string;
  key_id: string;
  close(): Promise<void>;
}

export interface TestGatewayOptions {
  /** In place of any that is free. */
  port?: number;
  credit?: string;
  /** What the key may do. */
  terms?: KeyTerms;
  /** In place of a SQLite file of its own. */
  store?: string;
  /** Further files beside gateway.yaml, by relative path. */
  files?: Record<string, string>;
  env?: NodeJS.ProcessEnv;
  log?: Logger;
  /** Where `log` writes, for an access log that writes there directly. */
  lines?: LogLines;
  /** As `serve` has it; without one, times are those of `now`. */
  clock?: SharedClock;
  now?: () => number;
  random?: () => number;
  /** Calls that fail are sent again, as the defaults of gateway.yaml say. */
  is_retrying?: true;
  /** In place of no wait before a call is sent again. */
  pause?: (ms: number) => Promise<void>;
  /** Whether it counts rates in the store, as a worker does. */
  has_workers?: boolean;
  store_wait_ms?: number;
  close_ms?: number;
}

/**
 * A real gateway in this process, on a port of its own, with a SQLite file of its own in a temporary
 * folder, and one account with credit and a key. `yaml` is gateway.yaml without `listen` and
 * `store`.
 */
export async function startGateway(
  yaml: string,
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'));
  const file = join(folder, 'gateway.yaml');
  const { store = 'sqlite:tollgate.db', port: wanted = 0 } = options;
  if (options.store === undefined) await writeNewStore(join(folder, 'tollgate.db'));
  const retry = options.is_retrying ? '' : '\ndefaults: { retry: { attempts: 0 } }\n';
  await writeFile(file, `listen: 127.0.0.1:${wanted}\nstore: ${store}\n${yaml}${retry}`);
  for (const [name, text] of Object.entries(options.files ?? {})) {
    await writeFile(join(folder, name), text);
  }
  const { log = pino({ level: 'silent' }), now = Date.now, random = Math.random } = options;
  const { has_workers = false, store_wait_ms, close_ms, lines, clock } = options;
  const gateway = await Gateway.open(await checked(file, options.env ?? {}), {
    log,
    now,
    random,
    pause: options.pause ?? (() => Promise.resolve()),
    has_workers,
    ...(store_wait_ms && { store_wait_ms }),
    ...(close_ms && { close_ms }),
    ...(lines && { lines }),
    ...(clock && { clock }),
  });
  const account = await gateway.store.createAccount('tester', parseDollars(options.credit ?? '10'));
  const { key, secret } = await gateway.store.createKey(account.id, 'test', options.terms);
  const { port } = await gateway.listen();
  const close = async (): Promise<void> => {
    await gateway.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  return { gateway, url, folder, file, account, secret, key_id: key.id, close };
}

/** The valid configuration. The message of the error that it throws names the faults. */
async function checked(file: string, env: NodeJS.ProcessEnv): Promise<ValidCheck> {
  try {
    return await checkOrThrow(file, env);
  } catch (error) {
    if (error instanceof ConfigError) {
      const errors = error.faults.filter(({ severity }) => severity === 'error');
      error.message = errors.map(({ message, hint }) => `${message} (${hint})`).join('; ');
    }
    throw error;
  }
}
