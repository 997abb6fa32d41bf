import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { freePort } from '../helpers/free-port.js';
import { start, startOwn, stop, temporaryFolder } from './child.js';
import { compile } from './compile.js';
import { wholeNumber } from './options.js';
import { taken } from './ports.js';
import type { Order, Outcome } from './run.js';
import { configuration, MAIN, runCommand, verification } from './tollgate.js';

// An account with a few calls at a time, alone and beside another one with very many: after a
// build, npx tsx test/bench/two-accounts.ts. Nothing is bound to a core, and each account has a
// client process of its own, as else its client would wait for that of the other. Ends with 1 where
// the answers are not the charges.

interface Options {
  many: number;
  few: number;
  delay: number;
  seconds: number;
  rounds: number;
  checkout: string;
}

const HERE = fileURLToPath(new URL('../../', import.meta.url));
const ACCOUNTS = ['many', 'few'] as const;
type Account = (typeof ACCOUNTS)[number];
const WAIT_MS = 60_000;
/** The larger account is at full load when the smaller one begins. */
const WARM_MS = 2_000;

interface Gateway {
  child: ChildProcess;
  port: number;
  secrets: ReadonlyMap<Account, string>;
  verify(): ReturnType<typeof verification>;
}

try {
  await bench(readOptions());
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
process.exit();

function readOptions(): Options {
  return new Command('npx tsx test/bench/two-accounts.ts')
    .description('Measures the calls of an account beside another one with very many at once.')
    .option('--many <n>', 'calls at once of the larger account', wholeNumber, 1_000)
    .option('--few <n>', 'calls at once of the smaller one', wholeNumber, 5)
    .option('--delay <ms>', 'that the upstream takes', wholeNumber, 50)
    .option('--seconds <n>', 'that the two are measured in a round', wholeNumber, 12)
    .option('--rounds <n>', 'of which the first is not counted', wholeNumber, 3)
    .option('--checkout <folder>', 'the build that is measured', HERE)
    .parse()
    .opts<Options>();
}

async function bench(options: Options): Promise<void> {
  const { many, few, delay, seconds, rounds } = options;
  const folder = temporaryFolder();
  compile(folder);
  const upstream = await startOwn(join(folder, 'upstream.js'), ['0'], 'both');
  const gateway = await startGateway(options, upstream.port);
  const clients = new Map<Account, ChildProcess>();
  for (const account of ACCOUNTS) {
    clients.set(account, (await startOwn(join(folder, 'load.js'), [], 'both')).child);
  }
  let answers = 0;
  const run = async (
    account: Account,
    connections: number,
    warm_ms: number,
    measure_ms: number,
  ) => {
    const order = orderOf(gateway, account, { connections, warm_ms, measure_ms, delay });
    const outcome = await sent(clients.get(account), order);
    answers += outcome.answers;
    if (outcome.bad > 0) throw new Error(`${outcome.bad} were not answered: ${outcome.complaint}`);
    return outcome.measured;
  };
  const ms = seconds * 1_000;
  for (let round = 0; round < rounds; round += 1) {
    const alone = await run('few', few, WARM_MS, ms);
    const [beside, larger] = await Promise.all([
      run('few', few, 2 * WARM_MS, ms),
      run('many', many, WARM_MS, ms + 2 * WARM_MS),
    ]);
    const name = round === 0 ? 'not counted' : `round ${round}`;
    const share = (beside.p99_ms / alone.p99_ms).toFixed(2);
    console.log(
      `${name}: p50 ${told(alone.p50_ms)} alone, ${told(beside.p50_ms)} beside; p99 ` +
        `${told(alone.p99_ms)} alone, ${told(beside.p99_ms)} beside, ${share} times; ` +
        `the larger account ${(larger.answers / larger.seconds).toFixed(0)} calls a second`,
    );
  }
  await stop(gateway.child);
  const { charges, open_holds, faults } = gateway.verify();
  console.log(`${answers} answers, ${charges} charges, ${open_holds} open holds`);
  for (const fault of faults.slice(0, 10)) console.log(`  ${fault}`);
  if (charges !== answers || open_holds > 0 || faults.length > 0) process.exitCode = 1;
}

function told(ms: number): string {
  return `${ms.toFixed(0)} ms`;
}

async function sent(client: ChildProcess | undefined, order: Order): Promise<Outcome> {
  if (!client) throw new Error('The client is not there.');
  client.send(order);
  const [outcome] = (await once(client, 'message')) as [Outcome];
  return outcome;
}

function orderOf(
  { port, secrets }: Gateway,
  account: Account,
  { delay, ...limits }: Pick<Order, 'connections' | 'warm_ms' | 'measure_ms'> & { delay: number },
): Order {
  const content = 'Count the boats that lie in the harbour. '.repeat(20);
  return {
    host: '127.0.0.1',
    port,
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${secrets.get(account)}` },
    body: JSON.stringify({
      model: `bench-0-${delay}`,
      messages: [{ role: 'user', content }],
      max_tokens: 64,
    }),
    events: 0,
    answer_ms: delay,
    rate: undefined,
    pids: [],
    ...limits,
  };
}

async function startGateway({ checkout, delay }: Options, upstream: number): Promise<Gateway> {
  const main = join(resolve(checkout), MAIN);
  const folder = temporaryFolder();
  const config = join(folder, 'gateway.yaml');
  const port = await freePort();
  const models = new Map([[`bench-0-${delay}`, 'chat' as const]]);
  writeFileSync(config, configuration(port, upstream, models));
  const secrets = new Map(
    ACCOUNTS.map((account) => {
      runCommand(main, config, ['account', 'create', account, '--credit', '1000000']);
      const key = runCommand(main, config, ['key', 'create', account, '--name', account]);
      return [account, (key as { secret: string }).secret];
    }),
  );
  const child = start(process.execPath, [main, 'serve', '--config', config], {
    side: 'both',
    cwd: folder,
  });
  await taken(port, child, WAIT_MS);
  const verify = () => verification(runCommand(main, config, ['verify']), ACCOUNTS.length);
  return { child, port, secrets, verify };
}
