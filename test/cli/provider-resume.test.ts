import { join } from 'node:path';
import { expect } from 'chai';
import { openStore } from '../../src/store/open.js';
import { makePlace, SIMULATED } from '../helpers/cli.js';

const REST = {
  provider: 'sim',
  model: 'chat',
  fault: 'timeout',
  failures: 1,
  told_until_ms: 0,
  probe_until_ms: 0,
};

describe('tollgate provider resume', () => {
  it('named nothing for a mistyped provider: it names those that are left alone', async () => {
    const place = await makePlace(SIMULATED);
    try {
      await place.json('account', 'create', 'alice', '--credit', '1.00');
      const since_ms = Date.now();
      const store = await openStore(`sqlite:${join(place.folder, 'data/tollgate.db')}`, {
        now: Date.now,
      });
      const rest = { ...REST, since_ms, until_ms: since_ms + 60_000 };
      await store.rests.exchange([{ is_over: false, rest, sets_probe: false }]);
      await store.close();
      const resume = async (name: string): Promise<string> =>
        (await place.tollgate('provider', 'resume', name)).stdout.trim();
      expect(await resume('smi')).to.equal('No upstream of smi is left alone; those of sim are.');
      expect(await resume('sim')).to.equal('Resumed sim: chat is called again within a second.');
      expect(await resume('sim')).to.equal('No upstream of sim is left alone.');
    } finally {
      await place.close();
    }
  });
});
