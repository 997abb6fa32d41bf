import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
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
for (const one of CASES) {
  if (values.case !== undefined && one.name !== values.case) continue;
  console.log(`${one.name}: ${one.story}`);
  const outcome = await runCase(one, Number(seconds));
  console.log(rowOf(one, outcome));
  for (const fault of outcome.faults) console.error(`  FAULT: ${fault}`);
  played.push([one, outcome]);
  if (report !== undefined) writeFileSync(report, page());
}
// The clusters and boxes of all cases have ended.
process.exit(played.length > 0 && played.every(([, { faults }]) => faults.length === 0) ? 0 : 1);

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
  const stories = played.map(([{ name, story }]) => `- **${name}**: ${story}`);
  return `# Chaos report

What clients and books saw while boxes and stores failed, of ${day} on
${machine}.
Made by \`npm run test:chaos -- --seconds ${seconds} --report docs/chaos.md\`${beside()}.

Four processes of \`serve\` stand on one PostgreSQL behind a plain TCP balancer, one process on
SQLite. 14 clients each call every 0.4 s, half of the calls as streams; six of them share three
accounts whose money is soon spent. Each disturbance takes ${seconds} s. Then each answer that came
whole is sought in the ledger, and \`verify\` must find no fault.

| case | answers | charges | lost | doubled | overspent | longest refusal | status codes |
| --- | --- | --- | --- | --- | --- | --- | --- |
${played.map(([one, outcome]) => rowOf(one, outcome)).join('\n')}

${stories.join('\n')}

An answer is one that a client read to its end. **Lost** are answers that were not charged, or
not in full, **doubled** those that were charged twice or too much, **overspent** the accounts
with a balance below zero or other than their charges say. Charges without an answer are those
of calls whose client was cut off. The **longest refusal** is the longest time in which all
calls of one client with money were refused or cut. \`402\` is for accounts without money; \`cut\`
means that a connection ended before its answer. Only an asynchronous standby can lose charges:
see
[A primary and its standbys](operating.md#a-primary-and-its-standbys).
`;
}
