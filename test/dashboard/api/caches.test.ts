import { expect } from 'chai';
import fc from 'fast-check';
import { FLAGS } from '../../../src/core/request-record.js';
import { formatDollars, parseDollars } from '../../../src/lib/money.js';
import type { EntryShape } from '../../../src/actions/shapes.js';
import type { RequestShape } from '../../../src/actions/request-shapes.js';
import type { UsageShape } from '../../../src/actions/usage-shapes.js';
import { chargeOf, dollars } from '../../store/helpers/ground.js';
import { recordAt, rollUp } from '../../store/requests/helpers.js';
import { onEachApiGateway } from './helpers/api-gateway.js';

const HOUR_MS = 3_600_000;

interface Calls<Row> {
  data: Row[];
  next_cursor: string | null;
}

const call = fc.record({
  hours: fc.nat(60),
  model: fc.constantFrom('cheap', 'dear'),
  key: fc.constantFrom('laptop', 'server'),
  agent: fc.constantFrom('claude-cli', 'codex', undefined),
  prompt_tokens: fc.nat(100_000),
  cached_tokens: fc.option(fc.nat(50_000), { nil: undefined }),
  cost_nano: fc.bigInt(0n, 10n ** 12n),
  saved_nano: fc.option(fc.bigInt(-(10n ** 12n), 10n ** 14n), { nil: undefined }),
  lost_nano: fc.option(fc.bigInt(1n, 10n ** 12n), { nil: undefined }),
});

onEachApiGateway('what caches saved, in dollars', {}, (here) => {
  it('is the same in the ledger, the records, the API and the page', async () => {
    const { ground, house } = here;
    ground.now_ms = Date.parse('2026-11-20T10:00:00Z');
    const { store } = house.gateway;
    const ann = await house.signIn('ann', { credit_nano: dollars(1_000_000) });
    const keys = new Map<string, string>();
    for (const name of ['laptop', 'server']) {
      keys.set(name, (await store.createKey(ann.account_id, name)).key.id);
    }
    const now_ms = ground.now_ms;
    const calls = fc.sample(call, 120).toSorted((a, b) => b.hours - a.hours);
    for (const { hours, key, agent, ...figures } of calls) {
      ground.now_ms = now_ms - hours * HOUR_MS;
      const key_id = keys.get(key) ?? '';
      const { prompt_tokens, saved_nano, lost_nano, cached_tokens, ...rest } = figures;
      const record = recordAt(ground.now_ms, {
        ...rest,
        account_id: ann.account_id,
        key_id,
        agent: agent ?? null,
        prompt_tokens,
        cached_tokens: cached_tokens ?? null,
        saved_nano: saved_nano ?? 0n,
        lost_nano: lost_nano ?? 0n,
        flags: lost_nano === undefined ? 0 : FLAGS.moved,
      });
      const usage = JSON.stringify({ prompt_tokens, completion_tokens: 5 });
      const named = { ...rest, key_id, usage, cached_tokens, saved_nano, lost_nano, agent };
      const given = Object.entries(named).filter(([, value]) => value !== undefined);
      const charge = chargeOf(record.id, ann.account_id, rest.cost_nano, Object.fromEntries(given));
      await store.charge(charge, undefined, record);
    }
    ground.now_ms = now_ms;
    await rollUp(ground, store);

    const sumOf = (of: (one: (typeof calls)[number]) => bigint | undefined): string =>
      formatDollars(calls.reduce((sum, one) => sum + (of(one) ?? 0n), 0n));
    const saved = sumOf(({ saved_nano }) => saved_nano);
    const lost = sumOf(({ lost_nano }) => lost_nano);
    const cost = sumOf(({ cost_nano }) => cost_nano);
    const added = (rows: readonly { saved: string; lost: string }[]): object => {
      const sum = (name: 'saved' | 'lost'): string =>
        formatDollars(rows.reduce((all, row) => all + parseDollars(row[name]), 0n));
      return { saved: sum('saved'), lost: sum('lost') };
    };

    const ledger = (await ann.get('/api/ledger?limit=200')).as<Calls<EntryShape>>('Ledger');
    expect(added(ledger.data)).to.deep.equal({ saved, lost });
    const list = (await ann.get('/api/requests?limit=200')).as<Calls<RequestShape>>('RequestPage');
    expect(added(list.data)).to.deep.equal({ saved, lost });
    for (const by of ['day', 'model', 'key', 'agent']) {
      const usage = (await ann.get(`/api/usage?by=${by}`)).as<UsageShape>('Usage');
      expect(usage.totals).to.include({ saved, lost, cost });
      expect(added(usage.data)).to.deep.equal({ saved, lost });
    }
    const page = (await ann.get('/caches')).text;
    for (const exact of [saved, lost, cost]) expect(page).to.include(`<data value="${exact}"`);
    const cached = calls.reduce((sum, one) => sum + (one.cached_tokens ?? 0), 0);
    expect(page).to.include(`${cached.toLocaleString('en-US')} of `);

    const codex = calls.filter(({ agent }) => agent === 'codex');
    const only = (await ann.get('/api/usage?by=model&agent=codex')).as<UsageShape>('Usage');
    expect(only.totals.calls).to.equal(codex.length);
    const some = (await ann.get('/api/requests?limit=200&agent=codex')).as<Calls<RequestShape>>(
      'RequestPage',
    );
    expect(some.data.map(({ agent }) => agent)).to.deep.equal(codex.map(() => 'codex'));
    const usagePage = (await ann.get('/usage?by=agent&agent=codex')).text;
    expect(usagePage).to.include('<strong>codex</strong>');
    expect(usagePage).not.to.include('<strong>claude-cli</strong>');
    const csv = (await ann.get('/api/usage?by=agent&format=csv')).text;
    expect(csv.split(/\r?\n/u)[0]).to.match(/^agent,calls,.*,cost,saved,lost$/u);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('tells of no input, and of a range that cannot be read', async () => {
    const ann = await here.house.signIn('ann');
    expect((await ann.get('/caches')).text).to.include('No input in this range');
    const wrong = await ann.get('/caches?from=2026-11-21&to=2026-11-20');
    expect(wrong.status).to.equal(400);
    expect(wrong.text).to.include('The range cannot be read');
  });
});
