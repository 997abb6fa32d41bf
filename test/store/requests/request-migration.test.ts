import { expect } from 'chai';
import { FIGURE_NAMES } from '../../../src/store/requests/request-totals-sql.js';
import { onEachStore } from '../helpers/ground.js';
import { emptyPlace, migrateTo } from '../helpers/old-store.js';

const DAY_MS = 86_400_000;

onEachStore('the totals of requests in an older store', (ground) => {
  it('know the accounts of days that an older version has added up', async () => {
    await emptyPlace(ground.place);
    await migrateTo(ground.place, '014-prices');
    const day_ms = ground.now_ms - (ground.now_ms % DAY_MS);
    const added = new Set([
      'moved',
      'saved_nano',
      'lost_nano',
      'cache_write_1h_tokens',
      'image_input_tokens',
      'image_output_tokens',
      'upstream_cost_nano',
      'profit_nano',
    ]);
    const known = FIGURE_NAMES.filter((name) => !added.has(name));
    const names = known.join(', ');
    const figures = known.map((name) => (name === 'uncollected_nano' ? 2n ** 62n : 3)).join();
    const row = (account: string, key: string, model: string, status: number): string =>
      `('day', ${day_ms}, '${account}', '${key}', '${model}', '', ${status}, ${figures}, 'a', 'b')`;
    await ground.place.sql(`insert into request_totals (period, start_ms, account_id, key_id, model,
      provider, status, ${names}, first_id, last_id) values
      ${row('acc_1', 'key_1', '', 200)}, ${row('acc_1', 'key_1', '', 502)},
      ${row('acc_1', 'key_2', '', 200)}, ${row('acc_1', '', 'cheap', 200)},
      ${row('acc_2', 'key_3', '', 200)}, ${row('', '', 'cheap', 200)}`);
    const store = await ground.open();
    const range = { from_ms: day_ms, to_ms: day_ms + DAY_MS, period: 'day' } as const;
    const rows = await store.requests.totals({ ...range, by: ['account_id'] });
    expect(
      rows.map(({ account_id, calls, cost_nano, uncollected_nano }) => [
        account_id,
        calls,
        cost_nano,
        uncollected_nano,
      ]),
    ).to.deep.equal([
      ['acc_1', 9, 9n, 3n * 10n ** 15n],
      ['acc_2', 3, 3n, 10n ** 15n],
    ]);
    const ofAgents = await store.requests.totals({ ...range, by: ['agent'] });
    expect(ofAgents).to.have.length(1);
    expect(ofAgents[0]).to.include({ agent: '', calls: 3, moved: 0, saved_nano: 0n });
  });
});
