import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { checkLine } from './check-time.js';
import { placement, startOwn, temporaryFolder } from './child.js';
import { compile } from './compile.js';
import { Loader } from './loader.js';
import { MEMORY_WORK, watchMemory } from './memory.js';
import { readOptions, type Options } from './options.js';
import { accounts, goals, goalTable, lineTable, memoryLine, ratioTable } from './report.js';
import { summarise } from './summary.js';
import { startOthers, upstreamItself } from './systems.js';
import { OWN_NAME, startTollgate, type Tollgate, type Verification } from './tollgate.js';
import { takeTurns, TURNS_APART, warming, type Turn } from './turns.js';
import { isSparse } from './wording.js';

// Starts the systems, gives them their turns and prints what came out. Ends with 1 where an answer
// was bad or the ledger is not what was answered; a ratio that is missed is only printed.

try {
  await bench(readOptions(process.argv.slice(2)));
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
// The children are still there, and this ends them.
process.exit();

async function bench(options: Options): Promise<void> {
  const { works, rss_requests } = options;
  const folder = temporaryFolder();
  compile(folder);
  const upstream = await startOwn(join(folder, 'upstream.js'), [], 'tools');
  const loader = await Loader.start(folder);
  const others = await startOthers(folder, upstream.port, options, say);
  say(`${new Date().toISOString().slice(0, 10)}, ${machine()}; ${placement()}`);

  say(checkLine(join(folder, 'check')));
  const ceiling = await ceilingOf(upstream.port, loader, options);
  const turns: Turn[] = [];
  const builds: Account[] = [];
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
    builds.push({ ...own.verify(), answers: loader.takeAnswersOf(own) });
  }
  const account = sumOf(builds);

  const lines = summarise([...ceiling, ...turns]);
  const reached = goals(turns, memory, OWN_NAME);
  if (turns.length > 0) say(`${lineTable(lines)}\n${ratioTable(turns, OWN_NAME)}`);
  if (memory.length > 0) say(memoryLine(memory, rss_requests));
  if (reached.length > 0) say(goalTable(reached));
  say(accounts(account));
  const bad = lines.filter((line) => line.bad > 0);
  for (const line of bad)
    say(`${line.system}: ${line.bad} bad answers, such as: ${line.complaint}`);
  if (account.charges !== account.answers || account.faults.length > 0) process.exitCode = 1;
  if (bad.some(({ system }) => system === OWN_NAME)) process.exitCode = 1;
  write(options.json, { machine: machine(), lines, goals: reached, memory, account, turns });
}

async function startBeside(port: number, { beside, works }: Options): Promise<Tollgate[]> {
  if (beside === undefined) return [];
  return [await startTollgate(port, [...works, ...works.map(warming)], resolve(beside))];
}

/** Whether each answer of one process has its charge. */
type Account = Verification & { answers: number };

function sumOf(accounts: readonly Account[]): Account {
  const sum = (value: (account: Account) => number): number =>
    accounts.reduce((total, account) => total + value(account), 0);
  return {
    charges: sum(({ charges }) => charges),
    open_holds: sum(({ open_holds }) => open_holds),
    faults: accounts.flatMap(({ faults }) => faults),
    answers: sum(({ answers }) => answers),
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
