import { expect } from 'chai';
import { parseDollars } from '../../../src/lib/money.js';
import type { AccountShape, EntryShape } from '../../../src/actions/shapes.js';
import type { UsageShape } from '../../../src/actions/usage-shapes.js';
import { chat } from '../../helpers/ask.js';
import { chargeOf, dollars } from '../../store/helpers/ground.js';
import { onEachApiGateway, type Client } from './helpers/api-gateway.js';

interface Page {
  data: EntryShape[];
  next_cursor: string | null;
}

const DAY_MS = 86_400_000;

/** Some tests live through days. */
const YAML = 'sign_in: { session: { idle: 30d, lifetime: 60d } }';

onEachApiGateway('the API of the own account', { yaml: YAML }, (here) => {
  let ann: Client;
  beforeEach(async () => {
    here.ground.now_ms = Date.parse('2026-11-20T10:00:00Z');
    ann = await here.house.signIn('ann', { credit_nano: dollars(10) });
  });

  const usage = async (query = ''): Promise<UsageShape> =>
    (await ann.get(`/api/usage${query}`)).as<UsageShape>('Usage');
  const ledger = async (query = ''): Promise<Page> =>
    (await ann.get(`/api/ledger${query}`)).as<Page>('Ledger');

  let count = 0;
  const charge = async (cost: bigint, rest: object = {}): Promise<string> => {
    const id = `request-${(count += 1)}`;
    await here.house.gateway.store.charge(chargeOf(id, ann.account_id, cost, rest));
    return id;
  };

  it('tells the balance, what is held of it and what is left', async () => {
    // Beside the store's clock, as the gateway frees an old hold that belongs to no request.
    here.ground.now_ms = Date.now();
    await here.house.gateway.store.hold('r1', ann.account_id, dollars(3));
    const account = (await ann.get('/api/account')).as<
      AccountShape & { email: string | null; operator: boolean }
    >('OwnAccount');
    expect(account).to.deep.equal({
      id: ann.account_id,
      name: 'ann',
      balance: '10.00',
      held: '3.00',
      available: '7.00',
      created: '2026-11-20T10:00:00.000Z',
      suspended: null,
      rates: null,
      allowances: [],
      email: null,
      operator: false,
    });
    const boss = await here.house.signIn('boss', { operator: true });
    expect((await boss.get('/api/account')).as('OwnAccount')).to.include({ operator: true });
  });

  it('sums usage up to what the ledger says', async () => {
    const { secret } = await here.house.gateway.store.createKey(ann.account_id, 'k');
    const body = { model: 'acme-chat', messages: [{ role: 'user', content: 'Hi' }] };
    for (const stream of [false, true, false]) {
      await chat({ url: here.house.url, secret }, { ...body, stream });
      here.ground.now_ms += DAY_MS;
    }
    await charge(7n, { model: 'x', usage: '{"images":3}' });
    await charge(11n, { model: 'x', usage: '{"video_seconds":8}', key_id: 'key_2' });
    const { data } = await ledger();
    const spent = data
      .filter(({ kind }) => kind === 'charge')
      .reduce((sum, { amount }) => sum - parseDollars(amount), 0n);
    for (const by of ['day', 'model', 'key']) {
      const { data: rows, totals } = await usage(`?by=${by}`);
      expect(parseDollars(totals.cost), by).to.equal(spent);
      expect(rows.reduce((sum, { cost }) => sum + parseDollars(cost), 0n)).to.equal(spent);
      expect(totals).to.include({ calls: 5, images: 3, video_seconds: 8 });
      expect(rows.reduce((sum, { calls }) => sum + calls, 0)).to.equal(5);
    }
    const account = (await ann.get('/api/account')).as<
      AccountShape & { email: string | null; operator: boolean }
    >('OwnAccount');
    expect(parseDollars(account.balance)).to.equal(dollars(10) - spent);
  });

  it('tells usage by day, model and key, and of one alone', async () => {
    const { key } = await here.house.gateway.store.createKey(ann.account_id, 'laptop');
    await charge(5n, { key_id: key.id, model: 'a' });
    here.ground.now_ms += DAY_MS;
    await charge(20n, { key_id: 'key_gone', model: 'b' });
    const days = await usage();
    expect(days).to.include({ from: '2026-10-23', to: '2026-11-21', by: 'day' });
    expect(days.data.map(({ day, cost }) => [day, cost])).to.deep.equal([
      ['2026-11-20', '0.000000005'],
      ['2026-11-21', '0.00000002'],
    ]);
    const keys = await usage('?by=key');
    expect(keys.data.map((row) => [row.key, row.name])).to.deep.equal([
      ['key_gone', null],
      [key.id, 'laptop'],
    ]);
    expect((await usage('?by=model&model=a')).data.map(({ model }) => model)).to.deep.equal(['a']);
    expect((await usage(`?key=${key.id}`)).totals.calls).to.equal(1);
    expect((await usage('?from=2026-11-21&to=2026-11-21')).totals.cost).to.equal('0.00000002');
    expect((await usage('?from=2026-11-22&to=2026-11-23')).data).to.deep.equal([]);
    expect((await usage('?model=&from=&what=ever')).totals.calls).to.equal(2);
  });

  it('gives usage as a file for spreadsheets', async () => {
    const evil = '=HYPERLINK("http://evil.example","x")';
    const { key } = await here.house.gateway.store.createKey(ann.account_id, evil);
    await charge(5n, { key_id: key.id, cached_tokens: 6, reasoning_tokens: 2 });
    const days = await ann.get('/api/usage?format=csv');
    expect(days.headers.get('content-type')).to.match(/^text\/csv; charset=utf-8/u);
    expect(days.headers.get('content-disposition')).to.equal(
      'attachment; filename="usage-2026-10-22-2026-11-20-day.csv"',
    );
    expect(days.text).to.equal(
      'day,calls,prompt_tokens,cached_tokens,cache_write_tokens,' +
        'cache_write_1h_tokens,audio_input_tokens,image_input_tokens,completion_tokens,' +
        'audio_output_tokens,image_output_tokens,reasoning_tokens,images,video_seconds,cost,' +
        'saved,lost\r\n2026-11-20,1,9,6,0,0,0,0,5,0,0,2,0,0,0.000000005,0.00,0.00\r\n',
    );
    const keys = await ann.get('/api/usage?format=csv&by=key');
    expect(keys.text.split('\r\n')[1]).to.equal(
      `${key.id},"'=HYPERLINK(""http://evil.example"",""x"")",1,9,6,0,0,0,0,5,0,0,2,0,0,0.000000005,0.00,0.00`,
    );
  });

  const wrong: [string, string][] = [
    ['/api/usage?from=yesterday', 'from'],
    ['/api/usage?from=2026-02-30', 'from'],
    ['/api/usage?to=2026-13-01', 'to'],
    ['/api/usage?from=2026-11-02&to=2026-11-01', 'from'],
    ['/api/usage?from=2020-01-01', 'from'],
    ['/api/usage?from=2026-11-01&from=2026-11-02', 'from'],
    ['/api/usage?by=hour', 'by'],
    ['/api/usage?format=xml', 'format'],
    ['/api/ledger?limit=0', 'limit'],
    ['/api/ledger?limit=201', 'limit'],
    ['/api/ledger?limit=1.5', 'limit'],
    ['/api/ledger?limit=ten', 'limit'],
    ['/api/ledger?cursor=nonsense', 'cursor'],
    ['/api/ledger?cursor=ImFubiI', 'cursor'],
    ['/api/ledger?reference=a%00b', 'reference'],
  ];
  for (const [path, param] of wrong) {
    it(`refuses ${path}`, async () => {
      expect((await ann.get(path)).refusal()).to.deep.equal([400, 'invalid_request', param]);
    });
  }

  it('finds nothing under a model or a key with a NUL, and does not break', async () => {
    expect((await usage('?model=a%00b&key=%00')).data).to.deep.equal([]);
  });

  it('pages through the ledger, newest first, also through one moment', async () => {
    const made: string[] = [];
    for (let i = 0; i < 6; i += 1) made.push(await charge(BigInt(i + 1)));
    const seen: string[] = [];
    let query = '?limit=2';
    for (let pages = 1; ; pages += 1) {
      const { data, next_cursor } = await ledger(query);
      seen.push(...data.map(({ reference }) => reference));
      if (next_cursor === null) {
        expect(pages).to.equal(4);
        break;
      }
      // What comes meanwhile is newer than what was seen, and so moves nothing.
      if (pages === 1) await charge(100n);
      query = `?limit=2&cursor=${next_cursor}`;
    }
    expect(seen).to.deep.equal([...made.toReversed(), 'opening credit']);
  });

  it('finds the charge of a request, with its usage', async () => {
    const id = await charge(5n, { estimated: true, cached_tokens: 6, reasoning_tokens: 0 });
    await charge(6n);
    const { data, next_cursor } = await ledger(`?reference=${id}`);
    expect(next_cursor).to.equal(null);
    expect(data).to.deep.equal([
      {
        id: data[0]?.id,
        created: '2026-11-20T10:00:00.000Z',
        kind: 'charge',
        amount: '-0.000000005',
        reference: id,
        refund_of: null,
        model: 'gpt-4o-mini',
        key: 'key_1',
        agent: null,
        usage: {
          prompt_tokens: 9,
          completion_tokens: 5,
          cached_tokens: 6,
          reasoning_tokens: 0,
        },
        estimated: true,
        uncollected: '0.00',
        saved: '0.00',
        lost: '0.00',
      },
    ]);
    expect((await ledger('?reference=other')).data).to.deep.equal([]);
  });

  it("shows nothing of another's", async () => {
    const id = await charge(5n);
    const bob = await here.house.signIn('bob');
    const { data } = (await bob.get(`/api/ledger?reference=${id}`)).as<Page>('Ledger');
    expect(data).to.deep.equal([]);
    expect((await bob.get('/api/usage')).as<UsageShape>('Usage').totals.calls).to.equal(0);
  });
});
