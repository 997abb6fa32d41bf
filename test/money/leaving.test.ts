import { expect } from 'chai';
import { sse } from '../helpers/upstream.js';
import { HELLO, houses, onlyCharge, type Script } from './helpers/house.js';
import {
  askAndLeave,
  closedWhole,
  DELIVERED_NANO,
  never,
  readAndLeave,
  STREAM,
  talking,
} from './helpers/leaving.js';

describe('who pays when the client leaves', () => {
  const open = houses();

  describe('an upstream that stops billing on abort', () => {
    it('is aborted, and what was delivered is charged', async () => {
      const house = await open(talking([never]));
      await readAndLeave(house);
      expect(await closedWhole(house)).to.equal(false);
      const { amount_nano, estimated } = await onlyCharge(house);
      expect({ amount_nano, estimated }).to.deep.equal({
        amount_nano: DELIVERED_NANO,
        estimated: true,
      });
    });

    const SILENT: [string, Script, object][] = [
      ['has sent nothing', { hold: never }, STREAM],
      ['has sent its head', sse([never]), STREAM],
      ['has sent a role', sse([{ choices: [{ delta: { role: 'assistant' } }] }, never]), STREAM],
      ['works on a JSON answer', { hold: never }, HELLO],
      ['has sent half a JSON answer', { chunks: ['{"choices":', never] }, HELLO],
    ];
    for (const [name, script, body] of SILENT) {
      it(`is aborted when it ${name}, and nothing is charged`, async () => {
        const house = await open(script);
        await askAndLeave(house, body);
        expect(await closedWhole(house)).to.equal(false);
        await house.settled();
        expect(await house.charges()).to.deep.equal([]);
      });
    }
  });
});
