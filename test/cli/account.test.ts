import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { chat, completionOf } from '../helpers/ask.js';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';

interface Entry {
  id: number;
  time: string;
  kind: string;
  amount: string;
  model: string | null;
  provider: string | null;
  usage: { prompt_tokens: number; completion_tokens: number } | null;
  estimated: boolean;
  uncollected: string;
  key: string | null;
  reference: string;
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u;

/** Every command here runs beside a gateway that serves on the same store. */
describe('accounts, keys and money on the command line, beside a running gateway', () => {
  let place: Place;
  let url: string;

  before(async () => {
    place = await makePlace(SIMULATED);
    url = await place.begin('serve').url();
    await place.json('account', 'create', 'alice', '--credit', '10.00');
  });
  after(() => place.close());

  const messages = [{ role: 'user', content: 'Hello!' }];

  it('make an account, credit it, make a key and show the charge of an answer', async () => {
    const account = await place.json<{ id: string }>('account', 'create', 'bob', '--credit', '0.5');
    expect(account).to.deep.equal({ id: account.id, name: 'bob', balance: '0.50' });

    const key = await place.json<{ id: string; secret: string }>(
      'key',
      'create',
      'bob',
      '--name',
      "bob's laptop",
    );
    expect(key).to.deep.equal({ id: key.id, name: "bob's laptop", secret: key.secret });
    expect(key.secret).to.match(/^tg-[0-9A-Za-z]{20,}$/u);

    const at = { url, secret: key.secret };
    const { usage } = completionOf(await chat(at, { model: 'sim', messages }));

    const [credit, charge, ...others] = await place.json<Entry[]>('ledger', 'bob');
    expect(others).to.deep.equal([]);
    expect(credit).to.include({ kind: 'credit', amount: '0.50', model: null, estimated: false });
    expect(charge?.time).to.match(MOMENT);
    const { total_tokens, ...tokens } = usage;
    const cost = (total_tokens / 1_000_000).toFixed(6).replace(/(\.\d\d.*?)0+$/u, '$1');
    expect(charge).to.deep.include({
      kind: 'charge',
      amount: `-${cost}`,
      model: 'sim',
      provider: 'simulator',
      usage: tokens,
      estimated: false,
      uncollected: '0.00',
      key: key.id,
    });

    const keys = await place.json<{ last_used: string }[]>('key', 'list', 'bob');
    expect(JSON.stringify(keys)).not.to.include(key.secret);
    expect(keys).to.have.length(1);
    expect(keys[0]).to.include({ id: key.id, name: "bob's laptop", revoked: null });
    expect(keys[0]?.last_used).to.match(MOMENT);

    expect(await place.json('key', 'revoke', key.id)).to.deep.equal({ id: key.id, revoked: true });
    expect((await chat(at, { model: 'sim', messages })).status).to.equal(401);
    const again = await place.tollgate('key', 'revoke', key.id);
    expect(again).to.include({ status: 1, stdout: '' });
    expect(again.stderr).to.include(`"${key.id}"`);

    const { balance } = (
      await place.json<{ name: string; balance: string }[]>('account', 'list')
    ).find(({ name }) => name === 'bob') ?? { balance: '' };
    expect(Number(balance)).to.equal(0.5 - total_tokens / 1_000_000);
  });

  it('give an account a credit of a billion dollars', async () => {
    const rich = await place.json('account', 'create', 'rich', '--credit', '1000000000');
    expect(rich).to.include({ balance: '1000000000.00' });
  });

  it('credit once for one reference, for an account by name or by id', async () => {
    const [{ id } = { id: '' }] = await place.json<{ id: string }[]>('account', 'list');
    const credit = ['credit', 'alice', '5', '--reference', 'invoice-1'];
    const done = { account: id, reference: 'invoice-1', amount: '5.00', balance: '15.00' };
    expect(await place.json(...credit)).to.deep.equal(done);
    expect(await place.json('credit', id, '5.000', '--reference', 'invoice-1')).to.deep.equal(done);
    const { stdout } = await place.tollgate(...credit);
    expect(stdout).to.include('"invoice-1" has credited $5.00 before');

    const other = await place.tollgate('credit', 'alice', '6', '--reference', 'invoice-1');
    expect(other).to.include({ status: 1, stdout: '' });
    expect(other.stderr).to.include('"invoice-1"').and.include('5.00');

    const back = await place.tollgate('credit', 'alice', '-4.000000001');
    expect(back.stdout).to.equal(
      'Took back $4.000000001 from alice: the balance is $10.999999999.\n',
    );
    const rows = await place.json<Entry[]>('ledger', 'alice');
    expect(rows.map(({ amount }) => amount)).to.deep.equal(['10.00', '5.00', '-4.000000001']);
  });

  it('verify that the ledger and the balances agree', async () => {
    const report = await place.json<{ accounts: number }>('verify');
    expect(report).to.deep.include({ faults: [], open_holds: 0 });
    const { status, stdout } = await place.tollgate('verify');
    expect(status).to.equal(0);
    expect(stdout).to.match(/^All adds up: \d accounts?, \d ledger entries, 0 open holds\.\n$/u);
  });

  it('apply no migration to a store that is up to date', async () => {
    expect(await place.json('migrate')).to.deep.equal({ applied: [], pending: [] });
    expect((await place.tollgate('migrate')).stdout).to.equal('The store is up to date.\n');
  });

  it('are printed as tables whose columns are aligned', async () => {
    for (const args of [
      ['account', 'list'],
      ['key', 'list', 'bob'],
      ['ledger', 'bob'],
    ]) {
      const { status, stdout } = await place.tollgate(...args);
      expect(status).to.equal(0);
      expect(stdout.split('\n').length).to.be.at.least(3);
      expect(stdout)
        .to.match(/^ *id +/u)
        .and.not.match(/[ \t]$|[│─{}]/mu)
        .and.not.include('\u001b');
    }
  });
});

describe('the command line on a new store', () => {
  const READING: string[][] = [
    ['verify'],
    ['account', 'list'],
    ['ledger', 'ann'],
    ['key', 'list', 'ann'],
    ['requests'],
    ['usage'],
    ['task', 'list'],
    ['audit'],
    ['token', 'list'],
    ['backup', 'monday.db'],
  ];
  let place: Place;

  beforeEach(async () => {
    place = await makePlace(SIMULATED);
  });
  afterEach(() => place.close());

  it('is not made, and not proven, by commands that only read: they name the missing file', async () => {
    for (const words of READING) {
      const { status, stdout, stderr } = await place.tollgate(...words);
      expect([status, stdout], words.join(' ')).to.deep.equal([1, '']);
      expect(stderr).to.match(/^tollgate: there is no store yet: \S+tollgate\.db is not there; /u);
    }
    const { stdout } = await place.tollgate('status');
    expect(stdout).to.include('there is no store yet');
    expect(await readdir(place.folder)).to.deep.equal(['gateway.yaml']);
  });

  it('says with accounts that none is as new, not that there is none', async () => {
    await place.customer('ann');
    const { stdout } = await place.tollgate('account', 'list', '--since', '2999-01-01');
    expect(stdout).to.equal('No account is as new as that.\n');
  });

  it('does not take a .env that cannot be read for one that is absent', async () => {
    await symlink('.env', join(place.folder, '.env'));
    const { status, stderr } = await place.tollgate('account', 'list');
    expect(status).to.equal(1);
    expect(stderr).to.match(/^tollgate: \.env cannot be read: /u);
  });

  it('is made by "migrate", and an empty file is none', async () => {
    await mkdir(join(place.folder, 'data'));
    await writeFile(join(place.folder, 'data/tollgate.db'), '');
    const { status, stderr } = await place.tollgate('verify');
    expect([status, stderr]).to.satisfy(([code, text]: [number, string]) => {
      return code === 1 && / there is no store yet: \S+tollgate\.db is empty; /u.test(text);
    });
    await place.json('migrate');
    expect((await place.tollgate('account', 'list')).stdout).to.include('no account yet');
    expect(await place.json('account', 'list')).to.deep.equal([]);
  });
});
