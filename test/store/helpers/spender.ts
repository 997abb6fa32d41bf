/**
 * `spender.ts URL ACCOUNT_ID REQUESTS [KEY_ID]`: walks so many requests through hold and charge,
 * some released instead, and prints the ID of each request whose charge has resolved. Costs are 1 to
 * 7 nano-dollars by turns. An allowance of the key may refuse some.
 */
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { openStore } from '../../../src/store/open.js';
import { chargeOf } from './ground.js';

const IN_FLIGHT = 8;
const [url = '', account_id = '', requests = '0', key_id] = process.argv.slice(2);

// A test that fails leaves nobody behind.
process.once('disconnect', () => process.exit(1));
process.channel?.unref();

const store = await openStore(url, { now: Date.now });
let left = Number(requests);

async function spend(): Promise<void> {
  while (left > 0) {
    const turn = left--;
    const request_id = randomUUID();
    const result = await store.hold(request_id, account_id, 10n, key_id);
    if (!result.admitted && key_id !== undefined) continue;
    if (!result.admitted) throw new Error('The account was meant to have enough.');
    if (turn % 5 === 0) {
      await store.release(request_id, account_id);
    } else {
      const { windows: hold_windows } = result;
      const key = key_id !== undefined && { key_id };
      const known = { hold_nano: 10n, ...key, ...(hold_windows !== undefined && { hold_windows }) };
      await store.charge(chargeOf(request_id, account_id, BigInt((turn % 7) + 1), known));
      writeSync(1, `${request_id}\n`);
    }
  }
}

await Promise.all(Array.from({ length: IN_FLIGHT }, spend));
await store.close();
