import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';
import { freePort } from '../helpers/free-port.js';
import { start, startOwn, stop, temporaryFolder } from './child.js';
import { compile } from './compile.js';
import { Container } from './container.js';
import { taken } from './ports.js';
import type { ClientsOrder, ClientsReport } from './streams-clients.js';
import { Rounds, say } from './streams-rounds.js';
import { MAIN, runCommand, verification } from './tollgate.js';

// Many sparse streams at once, and other calls beside them: how late the events are, and the memory
// of the gateway. Ends with 1 where a stream was not whole, or the answers are not the charges.

interface Options {
  streams: number;
  seconds: number;
  gap: number;
  longest: number;
  body: number;
  plain: number;
  turns: number;
  turnKb: number;
  largestKb: number;
  workers: number;
  container: number;
  node: string;
  flags: string;
  checkout: string;
}

const HERE = fileURLToPath(new URL('../../', import.meta.url));
const PAYERS = ['streams', 'plain', 'turns', 'largest'] as const;
type Payer = (typeof PAYERS)[number];
const MB = 1_024 ** 2;
const WAIT_MS = 60_000;

try {
  await bench(readOptions());
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
process.exit();

function readOptions(): Options {
  return new Command('npm run bench:streams --')
    .description('Keeps many sparse streams open, and measures them, other calls and memory.')
    .option('--streams <n>', 'streams at once', number, 50)
    .option('--seconds <n>', 'how long; then the streams that run come to their end', number, 60)
    .option('--gap <ms>', 'between two events of a stream', number, 1_000)
    .option('--longest <s>', 'of a stream; the shortest has a third', number, 180)
    .option('--body <bytes>', 'of a request for a stream', number, 2_048)
    .option('--plain <n>', 'calls a second without a stream', number, 10)
    .option('--turns <n>', 'clients that send large bodies over and over', number, 0)
    .option('--turn-kb <n>', 'of each of these bodies', number, 2_048)
    .option('--largest-kb <n>', 'of the bodies that one more client sends', number, 0)
    .option(
      '--workers <n>',
      'as in serve; with more than one, nothing is bound to a core',
      number,
      1,
    )
    .option('--container <mb>', 'a memory limit for the gateway, by a control group', number, 0)
    .option('--node <file>', 'the Node that runs the gateway', process.execPath)
    .option('--flags <text>', 'flags of that Node', '')
    .option('--checkout <folder>', 'the build that is measured', HERE)
    .parse()
    .opts<Options>();
}

function number(text: string): number {
  const value = Number(text);
  if (!(value >= 0)) throw new InvalidArgumentError('It must be a number.');
  return value;
}

async function bench(options: Options): Promise<void> {
  const folder = temporaryFolder();
  compile(folder);
  const upstream = await startOwn(join(folder, 'streams-upstream.js'), [], 'tools');
  const container = options.container > 0 ? new Container(options.container * MB) : undefined;
  const gateway = await startGateway(options, upstream.port, container);
  const rounds = new Rounds(gateway.child);
  const orders = ordersOf(options, gateway.port, gateway.secrets);
  await Promise.all(orders.map((order) => runClients(folder, order, rounds)));
  rounds.finish();
  if (container) say(`most memory of the container: ${(container.most() / MB).toFixed(0)} MB`);
  await stop(gateway.child);
  container?.remove();
  const { charges, open_holds, faults } = gateway.verify();
  const { answers, complaints } = rounds;
  say(`${answers} whole answers, ${charges} charges, ${open_holds} open holds`);
  for (const fault of [...complaints, ...faults].slice(0, 10)) say(`  ${fault}`);
  const isClean = complaints.length === 0 && faults.length === 0 && open_holds === 0;
  if (charges !== answers || !isClean) process.exitCode = 1;
}

/** One for each program of clients, so that large bodies do not hold up whoever reads the time. */
function ordersOf(
  options: Options,
  port: number,
  secrets: ReadonlyMap<Payer, string>,
): ClientsOrder[] {
  const { streams, seconds, gap, longest, body, plain, turns, turnKb, largestKb } = options;
  const order = (payer: Payer, what: Partial<ClientsOrder>): ClientsOrder => ({
    port,
    secret: secrets.get(payer) ?? '',
    seconds,
    streams: 0,
    gap_ms: gap,
    stream_s: [longest / 3, longest],
    body_bytes: body,
    plain_per_second: 0,
    turn_bytes: [],
    ...what,
  });
  const turn_bytes = Array.from({ length: turns }, () => turnKb * 1_024);
  const orders = [order('streams', { streams }), order('plain', { plain_per_second: plain })];
  if (turns > 0) orders.push(order('turns', { turn_bytes }));
  if (largestKb > 0) orders.push(order('largest', { turn_bytes: [largestKb * 1_024] }));
  return orders;
}

async function runClients(folder: string, order: ClientsOrder, rounds: Rounds): Promise<void> {
  const { child } = await startOwn(join(folder, 'streams-clients.js'), [], 'tools');
  await new Promise<void>((ended) => {
    child.on('message', (report: ClientsReport) => {
      rounds.take(report);
      if (report.is_last) ended();
    });
    child.send(order);
  });
}

interface Gateway {
  child: ChildProcess;
  port: number;
  secrets: ReadonlyMap<Payer, string>;
  verify(): ReturnType<typeof verification>;
}

async function startGateway(
  { workers, node, flags, checkout }: Options,
  upstream_port: number,
  container: Container | undefined,
): Promise<Gateway> {
  const main = join(resolve(checkout), MAIN);
  const folder = temporaryFolder();
  const config = join(folder, 'gateway.yaml');
  const port = await freePort();
  writeFileSync(config, configuration(port, upstream_port));
  const secrets = new Map(
    PAYERS.map((payer) => {
      runCommand(main, config, ['account', 'create', payer, '--credit', '1000000']);
      const key = runCommand(main, config, ['key', 'create', payer, '--name', payer]);
      return [payer, (key as { secret: string }).secret];
    }),
  );
  const serve = [main, 'serve', '--config', config, '--workers', String(workers)];
  const command = [node, ...flags.split(' ').filter(Boolean), ...serve];
  const [file, ...args] = container?.inside(command) ?? (command as [string, ...string[]]);
  const side = workers > 1 ? 'both' : 'system';
  const child = start(file, args, { side, cwd: folder });
  await taken(port, child, WAIT_MS);
  return {
    child,
    port,
    secrets,
    verify: () => verification(runCommand(main, config, ['verify']), PAYERS.length),
  };
}

function configuration(port: number, upstream_port: number): string {
  return `
listen: 127.0.0.1:${port}
public_url: http://127.0.0.1:${port}
store: sqlite:tollgate.db
log: { level: info }
owners: { ${PAYERS.map((payer) => `${payer}: { name: ${payer} }`).join(', ')} }
providers:
  fake: { uses: openai, api_key: sk-bench, base_url: 'http://127.0.0.1:${upstream_port}/v1' }
models:
  m:
    owner: ${PAYERS[0]}
    capabilities: [chat, tools]
    upstreams: [{ provider: fake, model: m }]
    limits: { max_tokens: 4096, context: 100000000 }
    price: { input_per_million: 0.15, output_per_million: 0.60 }
`;
}
