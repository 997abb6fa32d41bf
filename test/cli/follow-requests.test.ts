import { expect } from 'chai';
import { followRequests } from '../../src/cli/follow-requests.js';
import type { RequestRecord } from '../../src/core/request-record.js';
import type { RequestFilter } from '../../src/store/requests/request-types.js';
import { until } from '../helpers/until.js';
import { onEachStore } from '../store/helpers/ground.js';
import { recordAt, rollUp } from '../store/requests/helpers.js';

const NOW_MS = 1_800_000_000_000;

onEachStore('following the requests', (ground) => {
  /** What is added after this is new to the command, since that has shown something of the past. */
  async function following(filter: RequestFilter, limit: number, past: RequestRecord[]) {
    const store = await ground.open();
    const { requests } = store;
    const add = async (...records: RequestRecord[]): Promise<void> => {
      for (const record of records) await requests.add([record]);
      await rollUp(ground, store);
    };
    await add(...past);
    const printed: string[] = [];
    const stop = new AbortController();
    const { signal } = stop;
    const print = async ({ id }: { id: string }): Promise<void> => void printed.push(id);
    const ended = followRequests(requests, { filter, limit, print, signal, poll_ms: 5 });
    await until(() => printed.length >= limit, 'it shows the past');
    return { add, printed, end: () => (stop.abort(), ended) };
  }

  it('shows the last ones, the oldest first, and then each one as it ends', async () => {
    const past = [1, 2, 3].map((at) => recordAt(NOW_MS + at));
    const { add, printed, end } = await following({}, 2, past);
    const fresh = [recordAt(NOW_MS + 9_000), recordAt(NOW_MS + 500)];
    await add(...fresh);
    await until(() => printed.length >= 4, 'it shows the fresh ones');
    await end();
    expect(printed).to.deep.equal([...past.slice(1), ...fresh].map(({ id }) => id));
  });

  it('shows those alone that were asked for', async () => {
    const filter = { status: 5, model: 'm', account_id: 'acc_1', from_ms: NOW_MS };
    const fault = { status: 502, code: 'upstream_error', model: 'm' };
    const past = recordAt(NOW_MS + 1, fault);
    const { add, printed, end } = await following(filter, 1, [past]);
    const wanted = recordAt(NOW_MS + 20, fault);
    const others = [
      recordAt(NOW_MS + 11, { model: 'm' }),
      recordAt(NOW_MS + 12, { ...fault, model: 'n' }),
      recordAt(NOW_MS + 13, { ...fault, account_id: 'acc_2' }),
      recordAt(NOW_MS - 14, fault),
    ];
    await add(...others, wanted);
    await until(() => printed.length > 1, 'it shows one');
    await end();
    expect(printed).to.deep.equal([past.id, wanted.id]);
  });
});
