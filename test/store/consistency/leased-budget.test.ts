import { expect } from 'chai';
import fc from 'fast-check';

/** A message between the home region and another one. The network may lose, repeat or delay it. */
type Message =
  | { kind: 'asked' | 'granted'; lease: string; nano: number }
  | { kind: 'returned'; lease: string; left_nano: number };

/** What a region has on disk of a lease. A crash takes all else, and nothing of it matters. */
interface Lease {
  left_nano: number;
  isClosed: boolean;
}

/** The home region takes a lease off the balance once, and gives its rest back once. */
class Home {
  readonly #granted = new Map<string, number>();
  readonly #returned = new Set<string>();

  constructor(public balance_nano: number) {}

  take(message: Message): Message | undefined {
    const { lease } = message;
    if (message.kind === 'returned') {
      if (!this.#returned.has(lease)) this.balance_nano += message.left_nano;
      this.#returned.add(lease);
      return undefined;
    }
    if (!this.#granted.has(lease)) {
      const nano = Math.min(message.kind === 'asked' ? message.nano : 0, this.balance_nano);
      this.#granted.set(lease, nano);
      this.balance_nano -= nano;
    }
    return { kind: 'granted', lease, nano: this.#granted.get(lease) ?? 0 };
  }
}

/** A region spends what it was granted, and asks nobody meanwhile. */
class Region {
  readonly leases = new Map<string, Lease>();
  spent_nano = 0;

  take(message: Message): void {
    if (message.kind !== 'granted' || this.leases.has(message.lease)) return;
    this.leases.set(message.lease, { left_nano: message.nano, isClosed: false });
  }

  spend(nano: number): void {
    const lease = [...this.leases.values()].find(
      ({ isClosed, left_nano }) => !isClosed && left_nano >= nano,
    );
    if (!lease) return;
    lease.left_nano -= nano;
    this.spent_nano += nano;
  }

  /** A closed lease is never spent from again, so its rest may be told any number of times. */
  close(lease: string): Message | undefined {
    const known = this.leases.get(lease);
    if (!known) return undefined;
    known.isClosed = true;
    return { kind: 'returned', lease, left_nano: known.left_nano };
  }
}

const REGIONS = 3;
const step = fc.record({
  act: fc.constantFrom('ask', 'spend', 'close', 'deliver', 'deliver_and_keep', 'lose', 'crash'),
  region: fc.nat(REGIONS - 1),
  pick: fc.nat(9),
  nano: fc.integer({ min: 1, max: 40 }),
});

describe('a budget leased from the home region', () => {
  it('is never overspent, whatever is lost, repeated, late or crashes', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.array(step, { maxLength: 120 }), (budget_nano, steps) => {
        const home = new Home(budget_nano);
        const regions = Array.from({ length: REGIONS }, () => new Region());
        const wire: { region: number; message: Message }[] = [];
        const deliver = (at: number): void => {
          const sent = wire[at];
          const region = sent && regions[sent.region];
          if (!sent || !region) return;
          if (sent.message.kind === 'granted') return region.take(sent.message);
          const message = home.take(sent.message);
          if (message) wire.push({ region: sent.region, message });
        };
        for (const { act, region, pick, nano } of steps) {
          const at = wire.length === 0 ? 0 : pick % wire.length;
          const lease = `${region}-${pick}`;
          if (act === 'ask') wire.push({ region, message: { kind: 'asked', lease, nano } });
          if (act === 'spend') regions[region]?.spend(nano);
          if (act === 'close') {
            const message = regions[region]?.close(lease);
            if (message) wire.push({ region, message });
          }
          if (act === 'deliver' || act === 'deliver_and_keep') deliver(at);
          if (act === 'deliver' || act === 'lose') wire.splice(at, 1);
          // What the region had sent, and was about to be told, is gone.
          if (act === 'crash') {
            wire.splice(0, wire.length, ...wire.filter((sent) => sent.region !== region));
          }
          const spent_nano = regions.reduce((sum, one) => sum + one.spent_nano, 0);
          expect(spent_nano).to.be.at.most(budget_nano - home.balance_nano);
          expect(home.balance_nano).to.be.at.least(0);
        }
      }),
      { numRuns: 500 },
    );
  });
});
