import { writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { CASES, PREVIOUS } from './cases.js';
import { runCase, type Case, type Outcome } from './chaos-run.js';

// Plays each case, and prints what came of it. Ends with 1 where something happened that must not.

const { values } = parseArgs({
  options: {
    case: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    report: { type: 'string' },
  },
});
const { seconds, report } = values;
const played: [Case, Outcome][] = [];
let faults = 0;
for (const one of CASES) {
  if (values.case !== undefined && one.name !== values.case) continue;
  console.log(`${one.name}: ${one.story}`);
  const begun = performance.now();
  try {
    const outcome = await runCase(one, Number(seconds));
    console.log(rowOf(one, outcome));
    for (const fault of outcome.faults) tellFault(fault);
    played.push([one, outcome]);
  } catch (error) {
    tellFault(error);
  }
  console.log(`It took ${Math.round((performance.now() - begun) / 1_000)} s.`);
  if (report !== undefined) writeFileSync(report, page());
}
// The clusters and boxes of all cases have ended.
process.exit(played.length > 0 && faults === 0 ? 0 : 1);

function tellFault(fault: unknown): void {
  faults += 1;
  console.error('  FAULT:', fault);
}

function rowOf({ name }: Case, outcome: Outcome): string {
  const { answers, charges, lost, doubled, overspent, longest_refusal_ms, statuses } = outcome;
  const seen = [...statuses]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([status, count]) => `${status}: ${count}`);
  const refusal = `${(longest_refusal_ms / 1_000).toFixed(1)} s`;
  const cells = [name, answers, charges, lost, doubled, overspent, refusal, seen.join(', ')];
  return `| ${cells.join(' | ')} |`;
}

/** What is upgraded, where the program of an older release was given. */
function beside(): string {
  return PREVIOUS === undefined ? '' : ',\nwith the release before in `TOLLGATE_TEST_PREVIOUS`';
}

function page(): string {
  const day = new Date().toISOString().slice(0, 10);
  const processor = `${cpus().length} cores (${cpus()[0]?.model.trim()})`;
  const memory_gb = Math.round(totalmem() / 2 ** 30);
  const machine = `${processor}, ${memory_gb} GB, Node ${process.versions.node}`;
  const load = loadavg()[0]?.toFixed(0);
  const stories = played.map(([{ name, story }]) => `- **${name}**: ${story}`);
  return `# Chaos report

What clients and books saw while boxes and stores failed, of ${day} on
${machine}.
Made by \`npm run test:chaos -- --seconds ${seconds} --report docs/chaos.md\`${beside()}.

Four processes of \`serve\` stand on one PostgreSQL behind a plain TCP balancer; SQLite is served by
one process, with four workers where the case says so. 14 clients each make a chat call every
0.4 s, half of them as streams, and six of them share three accounts whose money is soon spent.
Two more order videos and ask for them until they are there, and one is signed in to the dashboard.
Each request has a connection of its own, so that any box may get it.

Each disturbance takes **${seconds} s**, or as long as it takes to kill or replace a box and start it
again. The load of the machine, other work included, was ${load} at the end. Then each answer that
came whole is sought in the ledger, and \`verify\` must find no fault.

| case | answers | charges | lost | doubled | overspent | longest refusal | status codes |
| --- | --- | --- | --- | --- | --- | --- | --- |
${played.map(([one, outcome]) => rowOf(one, outcome)).join('\n')}

${stories.join('\n')}

An answer is one that a client read to its end, or a video that it was given. **Lost** are answers
that were not charged, or not in full, and videos that were ordered and never came,
**doubled** those that were charged twice or too much, **overspent** the accounts with a balance
below zero or other than their charges say. Charges without an answer are those of calls whose
client was cut off. The **longest refusal** is the longest time in which all requests of one client
with money were refused or cut.

The statuses are those of all requests, also of those for videos and the dashboard. \`402\` is for
accounts without money, \`400\` for videos that are lost, and \`503\` has \`Retry-After\`. An \`error
event\` is a stream that ended with an error, \`cut by a kill\` a connection to a process that was
killed, \`none alive\` one while all processes were killed. Whatever else a client saw would be a
fault, and end the command with 1: another status, a connection that broke without an answer, a
stream without an end, an answer that did not come within a minute.

Only an asynchronous standby can lose charges: see
[A primary and its standbys](operating.md#a-primary-and-its-standbys).
`;
}
