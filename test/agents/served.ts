import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask } from '../helpers/ask.js';
import { eventually, makePlace } from '../helpers/cli.js';
import { PRICE } from './script.js';
import type { Wire } from './wires.js';

/** One line of the access log. */
export interface Request {
  account?: string;
  /** Method and path. */
  msg: string;
  status: number;
}

/** A row of the ledger. */
export interface Charge {
  amount: string;
  estimated: boolean;
}

/** An account with one key. */
export interface Customer {
  id: string;
  secret: string;
}

/** The built gateway, served by a process of its own. */
export interface Served {
  url: string;
  /** A gateway.yaml that has this address, for `tollgate connect`. */
  config: string;
  customer(name: string, credit: string): Promise<Customer>;
  /** What the customer has asked for so far. */
  requests(customer: Customer): Promise<Request[]>;
  charges(customer: Customer): Promise<Charge[]>;
  close(): Promise<void>;
}

/** Serves a gateway.yaml with a SQLite file of its own. */
export async function serve(yaml: string): Promise<Served> {
  const place = await makePlace(yaml);
  const serving = place.start('serve');
  const url = await serving.url();
  const config = join(place.folder, 'connect.yaml');
  // The shipped file has an address already.
  const others = yaml.replace(/^public_url: .*\n/mu, '');
  await writeFile(config, `${others}public_url: ${url}\n`);
  const linesOf = (id: string): Request[] =>
    serving.stderr
      .split('\n')
      .filter((line) => line.includes(`"account":"${id}"`))
      .map((line) => JSON.parse(line) as Request);
  return {
    url,
    config,
    customer: async (name, credit) => {
      const { id } = await place.json<{ id: string }>(
        'account',
        'create',
        name,
        '--credit',
        credit,
      );
      const { secret } = await place.json<{ secret: string }>('key', 'create', id, '--name', 'key');
      return { id, secret };
    },
    // The log is written with a delay; a request of our own marks the end of the others.
    requests: async ({ id, secret }) => {
      await ask({ url, secret }, '/v1/models/the-last');
      await eventually('the log has the last request', async () => {
        await new Promise(setImmediate);
        return linesOf(id).at(-1)?.msg === 'GET /v1/models/the-last';
      });
      return linesOf(id).slice(0, -1);
    },
    charges: async ({ id }) => {
      const rows = await place.json<(Charge & { kind: string })[]>('ledger', id);
      return rows.filter(({ kind }) => kind === 'charge');
    },
    close: () => place.close(),
  };
}

/** A gateway before an upstream that follows a script, for the tests of one `describe`. */
export function servedBefore(
  start: () => Promise<Wire>,
  parts: { providers?: string; models: string },
): { wire: Wire; gateway: Served } {
  const running = {} as { wire: Wire; gateway: Served };
  before(async () => {
    running.wire = await start();
    running.gateway = await serve(scriptedYaml(running.wire, '127.0.0.1:0', parts));
  });
  after(async () => {
    await running.gateway?.close();
    await running.wire?.close();
  });
  return running;
}

/** A gateway.yaml whose provider `acme` is the upstream of a wire. */
export function scriptedYaml(
  { provider }: Wire,
  listen: string,
  { providers = '', models }: { providers?: string; models: string },
): string {
  return `listen: ${listen}
store: sqlite:data/tollgate.db
owners: { acme: { name: Acme } }
providers: { acme: ${provider}${providers} }
models:
${models}`;
}

/** A model of that provider, as YAML. */
export function scriptedModel(name: string): string {
  return `  ${name}:
    owner: acme
    capabilities: [chat, vision, tools]
    upstreams: [{ provider: acme, model: best }]
    limits: { max_tokens: 32000, context: 200000 }
    price: ${PRICE}
`;
}
