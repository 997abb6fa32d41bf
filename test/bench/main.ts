import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { CommanderError } from 'commander';
import { checkLine } from './check-time.js';
import { placement, startOwn, temporaryFolder } from './child.js';
import { compile } from './compile.js';
import { Loader } from './loader.js';
import { MEMORY_WORK, watchMemory } from './memory.js';
import { readOptions, type Options } from './options.js';
import { coreWarnings, peerSystem, tryOnce } from './peers.js';
import { accounts, goals, goalTable, LEGEND, lineTable, memoryLine } from './report.js';
import { summarise } from './summary.js';
import { startOthers, upstreamItself } from './systems.js';
import { OWN_NAME, startTollgate, type Account, type Tollgate } from './tollgate.js';
import { takeTurns, TURNS_APART, warming, type Turn } from './turns.js';
import { isSparse } from './wording.js';

// Starts the systems, gives them their turns and prints what came out. Ends with 1 where an answer
// was bad or the ledger is not what was answered; a ratio that is missed is only printed.

try {
  await bench(readOptions(process.argv.slice(2)));
} catch (error) {
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
  if (process.exitCode !== 0) console.error(error instanceof Error ? error.message : error);
}
// The children are still there, and this ends them.
process.exit();

async function bench(options: Options): Promise<void> {
  const { works, rss_requests } = options;
  const folder = temporaryFolder();
  compile(folder);
  const upstream_args = [String(options.upstream_port)];
  const upstream = await startOwn(join(folder, 'upstream.js'), upstream_args, 'tools');
  const loader = await Loader.start(folder);
  const peers = options.peers.map(peerSystem);
  await tryOnce(peers, loader, works.map(warming));
  const others = [...(await startOthers(folder, upstream.port, say)), ...peers];
  say(`${new Date().toISOString().slice(0, 10)}, ${machine()}; ${placement()}`);

  for (const warning of peers.flatMap(coreWarnings)) say(warning);
  if (rss_requests > 0) say(checkLine(join(folder, 'check')));
  const ceiling = await ceilingOf(upstream.port, loader, options);
  const turns: Turn[] = [];
  const accounts_of = new Map<string, Account>();
  let memory: readonly number[] = [];
  for (let at = 1; at <= options.processes; at += 1) {
    const startOwnBuild = () =>
      startTollgate(upstream.port, [...works, ...works.map(warming), MEMORY_WORK]);
    // A build that starts and warms up first is some per cent slower, so the builds take turns.
    const isFirst = at % 2 === 1;
    const early = isFirst ? await startOwnBuild() : undefined;
    const beside = await startBeside(upstream.port, options);
    const own = early ?? (await startOwnBuild());
    const all = isFirst ? [own, ...others, ...beside] : [...beside, ...others, own];
    for (const turn of await takeTurns(all, loader, options, progress)) {
      turns.push({ ...turn, number: turn.number + at * TURNS_APART });
    }
    const isLast = at === options.processes;
    if (isLast && rss_requests > 0) memory = await watchMemory(own, loader, rss_requests, progress);
    progress('');
    await Promise.all([own, ...beside].map((one) => one.stop()));
    for (const build of [own, ...beside]) {
      const account = { ...build.verify(), answers: loader.takeAnswersOf(build) };
      accounts_of.set(build.name, withAccount(accounts_of.get(build.name), build.name, account));
    }
  }
  const ledgers = [...accounts_of.values()];

  const lines = summarise([...ceiling, ...turns]);
  const reached = goals(lines, turns, memory, OWN_NAME);
  if (turns.length > 0) say(`${lineTable(lines, turns, OWN_NAME)}\n${LEGEND}`);
  if (memory.length > 0) say(memoryLine(memory, rss_requests));
  if (reached.length > 0) say(goalTable(reached));
  for (const ledger of ledgers) say(accounts(ledger));
  const bad = lines.filter((line) => line.bad > 0);
  for (const line of bad)
    say(`${line.system}: ${line.bad} bad answers, such as: ${line.complaint}`);
  const is_exact = ledgers.every(
    ({ charges, answers, faults }) => charges === answers && faults.length === 0,
  );
  if (!is_exact) process.exitCode = 1;
  if (bad.some(({ system }) => system === OWN_NAME)) process.exitCode = 1;
  write(options.json, { machine: machine(), lines, goals: reached, memory, ledgers, turns });
}

async function startBeside(port: number, { beside, works }: Options): Promise<Tollgate[]> {
  if (beside === undefined) return [];
  return [await startTollgate(port, [...works, ...works.map(warming)], resolve(beside))];
}

function withAccount(
  sum: Account | undefined,
  name: string,
  { charges, open_holds, faults, answers }: Omit<Account, 'name'>,
): Account {
  return {
    name,
    charges: charges + (sum?.charges ?? 0),
    open_holds: open_holds + (sum?.open_holds ?? 0),
    faults: [...(sum?.faults ?? []), ...faults],
    answers: answers + (sum?.answers ?? 0),
  };
}

/** What the upstream and the load generator can do when nothing stands between them. */
async function ceilingOf(port: number, loader: Loader, options: Options) {
  const works = options.works.filter(({ kind }) => !isSparse(kind));
  const short = { ...options, works, rounds: 1, seconds: 1 };
  return takeTurns([upstreamItself(port)], loader, short, progress);
}

function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), Node ${process.version}`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** One line that is written over, where somebody watches. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

function write(file: string | undefined, numbers: object): void {
  if (file === undefined) return;
  const date = new Date().toISOString();
  writeFileSync(file, `${JSON.stringify({ date, ...numbers }, null, 2)}\n`);
}
