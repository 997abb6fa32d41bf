import { expect } from 'chai';
import { chat } from '../helpers/ask.js';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import { until } from '../helpers/until.js';

interface Change {
  actor: string;
  by: string | null;
  action: string;
  subject: string;
  account: string | null;
  before: object | null;
  after: object | null;
}

interface Refunded {
  account: string;
  reference: string;
  amount: string;
  balance: string;
}

const HELLO = { model: 'sim', messages: [{ role: 'user', content: 'Hello!' }] };

describe('managing accounts on the command line, beside a running gateway', () => {
  let place: Place;
  let url: string;
  let alice: { id: string };
  let key: { id: string; secret: string };

  before(async () => {
    place = await makePlace(SIMULATED);
    url = await place.begin('serve').url();
    alice = await place.json('account', 'create', 'alice', '--credit', '10.00');
    key = await place.json('key', 'create', 'alice', '--name', 'laptop', '--limit', '5');
  });
  after(() => place.close());

  const call = () => chat({ url, secret: key.secret }, HELLO);

  /** Standard error of a command that must fail. */
  async function fault(...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await place.tollgate(...args);
    expect([status, stdout]).to.deep.equal([1, '']);
    expect(stderr.trim().split('\n')).to.have.length(1);
    return stderr.trim();
  }

  it('suspends and resumes an account', async () => {
    const { stdout } = await place.tollgate('account', 'suspend', 'alice');
    expect(stdout).to.equal('Suspended alice: its keys are refused from now on.\n');
    const refused = await call();
    expect(refused.status).to.equal(403);
    expect(refused.text).to.include('account_suspended');
    expect((await place.tollgate('account', 'suspend', 'alice')).stdout).to.include('already');
    expect(await fault('key', 'create', 'alice', '--name', 'phone')).to.equal(
      'tollgate: the account is suspended: it gets no new key until it is resumed',
    );
    const [row] = await place.json<{ suspended: string | null }[]>('account', 'list');
    expect(row?.suspended).to.match(/^\d{4}-/u);
    expect(await place.json('account', 'resume', 'alice')).to.include({ suspended: null });
    expect((await place.tollgate('account', 'resume', 'alice')).stdout).to.include('not suspended');
    expect((await call()).status).to.equal(200);
  });

  it('refunds a part of a charge, then the rest, each once', async () => {
    const { headers } = await call();
    const id = headers.get('x-request-id') ?? '';
    const part = await place.json<Refunded>('refund', id, '--amount', '0.000000002');
    expect(part).to.include({ account: alice.id, amount: '0.000000002' });
    const again = await place.tollgate('refund', id, '--amount', '0.000000002');
    expect(again.stdout).to.include('has refunded $0.000000002 before');
    const rest = await place.tollgate('refund', id);
    expect(rest.stdout).to.match(/^Refunded \$0\.\d+ to alice: the balance is \$\d+\.\d+\.\n$/u);
    expect(await fault('refund', id, '--amount', '5', '--reference', 'x')).to.include(
      'nothing is left to refund',
    );
    expect(await fault('refund', 'no-such')).to.equal(
      'tollgate: there is no charge of "no-such"; "tollgate ledger ACCOUNT" shows them',
    );
    expect(await fault('refund', id, '--amount', 'much')).to.match(/^tollgate: /u);
    const { stdout } = await place.tollgate('verify');
    expect(stdout).to.match(/^All adds up/u);
  });

  it('makes a token that the API takes, lists it and revokes it', async () => {
    const scope = ['--scope', 'accounts:read,audit:read', '--scope', 'ledger:read'];
    const typed = ['token', 'create', 'shop', ...scope, '--expires', '90d'];
    const made = await place.json<{ id: string; name: string; secret: string }>(...typed);
    expect(made).to.have.all.keys('id', 'name', 'secret');
    expect(made.secret).to.match(/^tgm_\w{42}$/u);
    const get = async (path: string): Promise<number> => {
      const headers = { authorization: `Bearer ${made.secret}` };
      return (await fetch(url + path, { headers })).status;
    };
    expect(await get('/api/accounts')).to.equal(200);
    expect(await get(`/api/accounts/${alice.id}/usage`)).to.equal(403);
    const tokens = await place.json<{ id: string; scopes: string[] }[]>('token', 'list');
    expect(tokens.map(({ id }) => id)).to.deep.equal([made.id]);
    expect(tokens[0]?.scopes).to.deep.equal(['accounts:read', 'audit:read', 'ledger:read']);
    expect(JSON.stringify(tokens)).not.to.include(made.secret);
    expect(await place.json('token', 'revoke', made.id)).to.deep.equal({
      id: made.id,
      revoked: true,
    });
    expect(await get('/api/accounts')).to.equal(401);
    expect(await fault('token', 'revoke', made.id)).to.include('no active token');
    const wrong = await fault('token', 'create', 'x', '--scope', 'account:read');
    expect(wrong).to.include('there is no scope "account:read"').and.include('accounts:read');
    expect(
      await fault('token', 'create', 'x', '--scope', 'audit:read', '--expires', '0'),
    ).to.include('"0" is not a time');
  });

  it('shows who changed what', async () => {
    await place.json('credit', 'alice', '1', '--reference', 'invoice 9');
    await place.json('sign-in-link', 'alice');
    await place.json('key', 'revoke', key.id);
    const log = await place.json<Change[]>('audit', '--account', 'alice', '--limit', '3');
    expect(log.map(({ action }) => action)).to.deep.equal([
      'key.revoke',
      'sign_in_link.create',
      'account.credit',
    ]);
    expect(log[2]?.after).to.include({ reference: 'invoice 9' });
    for (const { actor, account } of log) {
      expect([actor, account]).to.deep.equal(['cli', alice.id]);
    }
    expect(await place.json('audit', '--since', '2999-01-01')).to.deep.equal([]);
    expect((await place.json<Change[]>('audit', '--since', '1h')).length).to.be.greaterThan(8);
    const { stdout } = await place.tollgate('audit', '--limit', '1');
    expect(stdout).to.include('key.revoke').and.include('name laptop');
    expect(await fault('audit', '--since', 'lately')).to.include('is not a time such as 2h');
    expect(await fault('audit', '--limit', '0')).to.include('"0" is not a number of rows');
  });

  it('tells of a configuration that the gateway has taken up', async () => {
    await place.write(SIMULATED.replace('  sim:', '  sim-two:'));
    const told = async (): Promise<boolean> => {
      const [last] = await place.json<Change[]>('audit', '--limit', '1');
      return last?.action === 'configuration.reload';
    };
    await until(told, 'the audit log tells of it');
    const [last] = await place.json<Change[]>('audit', '--limit', '1');
    expect(last).to.deep.include({
      actor: 'gateway',
      by: null,
      subject: 'gateway.yaml',
      after: { changes: ['model sim is gone', 'model sim-two is new'] },
    });
  });
});
