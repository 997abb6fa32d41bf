import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { requestId } from '../../src/gateway/router.js';
import { openStore } from '../../src/store/open.js';
import { chargeOf } from '../store/helpers/ground.js';
import { recordAt } from '../store/requests/helpers.js';

// The CPU time of a hold with its charge, with and without a record, and of the totals:
// npx tsx test/bench/requests-cost.ts 20, the number of rounds. The least is what an idle machine
// would take.

const rounds = Number(process.argv[2] ?? 20);
const CALLS = 8_000;
const WORKERS = 64;

const folder = mkdtempSync(join(tmpdir(), 'tollgate-cost-'));
const store = await openStore(`sqlite:${join(folder, 'cost.db')}`, { now: () => Date.now() });
const { id: account_id } = await store.createAccount('cost', 10n ** 15n);
const { key } = await store.createKey(account_id, 'cost');

const took = { without: [] as number[], 'with records': [] as number[], totals: [] as number[] };
await calls(true);
for (let round = 0; round < rounds; round += 1) {
  took.without.push(await cpuOf(() => calls(false)));
  took['with records'].push(await cpuOf(() => calls(true)));
  took.totals.push(await cpuOf(rollUp));
}
for (const [name, times] of Object.entries(took)) {
  times.sort((a, b) => a - b);
  const [least = 0] = times;
  const median = times[times.length >> 1] ?? 0;
  console.log(`${name}: ${least.toFixed(1)} µs a call, the median ${median.toFixed(1)} µs`);
}
await store.close();
rmSync(folder, { recursive: true });

/** Microseconds of CPU for each call. */
async function cpuOf(act: () => Promise<void>): Promise<number> {
  const began = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / CALLS;
}

async function calls(isRecorded: boolean): Promise<void> {
  let at = 0;
  const work = async (): Promise<void> => {
    while (at < CALLS) {
      at += 1;
      const id = requestId(Date.now());
      // Made in either case, as it is the writing that is compared.
      const record = recordAt(0, { id, account_id, key_id: key.id, took_ms: at % 900 });
      await store.hold(id, account_id, 200n, key.id);
      await nextTurn();
      const charge = chargeOf(id, account_id, 100n, { key_id: key.id, hold_nano: 200n });
      await store.charge(charge, undefined, isRecorded ? record : undefined);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
}

async function rollUp(): Promise<void> {
  while (await store.requests.rollUp()) await nextTurn();
}
