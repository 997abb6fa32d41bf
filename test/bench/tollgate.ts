import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { start, temporaryFolder } from './child.js';
import { freePort } from '../helpers/free-port.js';
import { taken } from './ports.js';
import { systemOf, type System } from './system.js';
import { KINDS, modelOf, type Format, type Work } from './wording.js';

const HERE = fileURLToPath(new URL('../../', import.meta.url));
export const MAIN = 'dist/src/cli/main.js';
/** The build of this checkout, in the tables. */
export const OWN_NAME = 'Tollgate';
const WAIT_MS = 20_000;

/** What `verify --json` says of the store; credits are entries too. */
export interface Verification {
  charges: number;
  open_holds: number;
  faults: readonly string[];
}

/** What the clients of one build were answered, over all of its processes, and its ledgers. */
export interface Account extends Verification {
  name: string;
  answers: number;
}

export interface Tollgate extends System {
  /** Reads the whole ledger; for when the gateway has stopped. */
  verify(): Verification;
}

/**
 * A build of this gateway with everything on that a paid call takes: key, hold, charge, SQLite on
 * disk. `checkout` is the folder that has its `dist`, by default this one.
 */
export async function startTollgate(
  upstream_port: number,
  works: readonly Work[],
  checkout = HERE,
): Promise<Tollgate> {
  const main = join(checkout, MAIN);
  const folder = temporaryFolder();
  const config = join(folder, 'gateway.yaml');
  const port = await freePort();
  const models = new Map(works.map((work) => [modelOf(work), work.upstream_format]));
  writeFileSync(config, configuration(port, upstream_port, models));
  const run = (...args: string[]) => runCommand(main, config, args);
  run('account', 'create', 'bench', '--credit', '1000000');
  const { secret } = run('key', 'create', 'bench', '--name', 'bench') as { secret: string };
  const child = start(process.execPath, [main, 'serve', '--config', config], {
    side: 'system',
    cwd: folder,
  });
  await taken(port, child, WAIT_MS);
  const headers = { authorization: `Bearer ${secret}` };
  const name = checkout === HERE ? OWN_NAME : `${OWN_NAME} at ${basename(checkout)}`;
  const system = systemOf(child, { name, kinds: KINDS, port, headers });
  return { ...system, verify: () => verification(run('verify')) };
}

export function verification(answer: unknown, credits = 1): Verification {
  const { entries, open_holds, faults } = answer as {
    entries: number;
    open_holds: number;
    faults: string[];
  };
  return { charges: entries - credits, open_holds, faults };
}

/** One `tollgate` command and the JSON that it prints, also where `verify` found faults. */
export function runCommand(main: string, config: string, args: readonly string[]): unknown {
  const all = [main, ...args, '--json', '--config', config];
  const { stdout, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr.trim() || `tollgate ${args.join(' ')} said nothing`);
  return JSON.parse(stdout);
}

/** A gateway.yaml with the bench's upstream, and the API in which it is asked for each model. */
export function configuration(
  port: number,
  upstream_port: number,
  models: ReadonlyMap<string, Format>,
): string {
  return `
listen: 127.0.0.1:${port}
public_url: http://127.0.0.1:${port}
store: sqlite:tollgate.db
log: { level: info }
owners: { bench: { name: Bench } }
providers:
  openai: { api_key: sk-bench, base_url: 'http://127.0.0.1:${upstream_port}/v1' }
  anthropic: { api_key: sk-bench, base_url: 'http://127.0.0.1:${upstream_port}/v1' }
models:
${[...models].map(([id, format]) => modelText(id, format)).join('')}`;
}

/** OpenAI takes the model of the last one by its Responses API alone. */
const UPSTREAMS: Record<Format, (id: string) => string> = {
  chat: (id) => `{ provider: openai, model: ${id} }`,
  messages: (id) => `{ provider: anthropic, model: ${id} }`,
  responses: () => '{ provider: openai, model: gpt-5.4-pro }',
};

function modelText(id: string, upstream_format: Format): string {
  return `  ${id}:
    owner: bench
    capabilities: [chat, tools]
    upstreams: [${UPSTREAMS[upstream_format](id)}]
    limits: { max_tokens: 4096, context: 8000000 }
    price: { input_per_million: 0.15, output_per_million: 0.60 }
`;
}
