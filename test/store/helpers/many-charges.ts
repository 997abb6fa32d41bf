import { openStore } from '../../../src/store/open.js';
import { chargeOf, dollars } from './ground.js';

/** A process of its own that holds and charges many requests of one account at a time. */
const [, , url = ''] = process.argv;
/** So that the rows that one statement touches lie on many pages. */
const OPEN_HOLDS = 2_000;
const AT_ONCE = 64;

const store = await openStore(url, { now: () => 1_800_000_000_000 });
const { id } = await store.createAccount('ann', dollars(1_000));
const names = Array.from({ length: OPEN_HOLDS }, (_, at) => `r${(at * 7919) % OPEN_HOLDS}`);
await Promise.all(names.map((name) => store.hold(name, id, 10n)));
for (let from = 0; from < names.length; from += AT_ONCE) {
  const some = names.slice(from, from + AT_ONCE);
  const charges = some.map((name) => chargeOf(name, id, 3n, { hold_nano: 10n }));
  await Promise.all(charges.map((charge) => store.charge(charge)));
}
await store.close();
