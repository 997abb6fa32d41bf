import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { chat } from '../helpers/ask.js';
import { eventually, makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import { until } from '../helpers/until.js';

interface View {
  id: string;
  time: string;
  status: number;
  model: string;
  agent: string | null;
  upstream: string;
  account: string;
  cost: string;
  code: string | null;
  prompt_tokens: number;
  auth_ms: number;
  read_ms: number | null;
  hold_ms: number | null;
  took_ms: number;
  attempts: object[];
}

const MESSAGES = [{ role: 'user', content: 'A secret thought.' }];

describe('the commands that look at requests', () => {
  let place: Place;
  let url: string;
  let account: string;
  let secret: string;

  before(async () => {
    place = await makePlace(SIMULATED, { COLUMNS: '90' });
    url = await place.begin('serve').url();
    const { id } = await place.json<{ id: string }>('account', 'create', 'alice', '--credit', '1');
    account = id;
    ({ secret } = await place.json<{ secret: string }>('key', 'create', id, '--name', 'k'));
    await chat({ url, secret }, { model: 'sim', messages: MESSAGES });
    await chat({ url, secret }, { model: 'sim', messages: MESSAGES, stream: true });
    await chat({ url, secret }, { model: 'none', messages: MESSAGES });
    await eventually('all have a record', async () => {
      return (await place.json<View[]>('requests')).length === 3;
    });
    await eventually('all are in the totals', async () => {
      const rows = await place.json<{ requests: number }[]>('usage');
      return rows.reduce((sum, row) => sum + row.requests, 0) === 3;
    });
  });
  after(() => place.close());

  it('list requests as JSON, the newest first, without content', async () => {
    const views = await place.json<View[]>('requests');
    expect(views.map(({ status }) => status)).to.deep.equal([400, 200, 200]);
    expect(views[2]).to.include({ model: 'sim', upstream: 'simulator', account, code: null });
    expect(Number(views[2]?.cost)).to.be.above(0);
    expect(views[2]?.attempts).to.have.length(1);
    expect(views.map(({ agent }) => agent)).to.deep.equal(['node', 'node', 'node']);
    expect(JSON.stringify(views)).not.to.include('thought');
  });

  it('tell when the key was accepted, the request read and the hold taken', async () => {
    const [refused, , answered] = await place.json<View[]>('requests');
    const { auth_ms = NaN, read_ms, hold_ms, took_ms } = answered ?? {};
    expect([0, auth_ms, read_ms, hold_ms, took_ms]).to.deep.equal(
      [0, auth_ms, read_ms, hold_ms, took_ms].toSorted((a, b) => (a ?? NaN) - (b ?? NaN)),
    );
    expect(auth_ms).to.be.above(0);
    expect(refused).to.include({ read_ms: null, hold_ms: null });
  });

  it('list what was asked for', async () => {
    const count = async (...args: string[]) =>
      (await place.json<View[]>('requests', ...args)).length;
    expect(await count('--status', '4xx')).to.equal(1);
    expect(await count('--status', '200', '--model', 'sim')).to.equal(2);
    expect(await count('--account', 'alice', '--limit', '2')).to.equal(2);
    expect(await count('--agent', 'node')).to.equal(3);
    expect(await count('--agent', 'codex')).to.equal(0);
    expect(await count('--since', '1h')).to.equal(3);
    expect(await count('--since', '0s')).to.equal(0);
  });

  it('add up by agent, with what caches saved and lost', async () => {
    const [row, ...others] = await place.json<object[]>('usage', '--by', 'agent');
    expect(row).to.include({ agent: 'node', requests: 3, cached_tokens: 0 });
    expect(row).to.include({ saved: '0.00', lost: '0.00' });
    expect(others).to.deep.equal([]);
    const { stdout } = await place.tollgate('usage', '--by', 'agent');
    expect(stdout)
      .to.match(/^agent +requests/u)
      .and.not.include('saved');
  });

  it('print tables that fit the terminal', async () => {
    for (const args of [['requests'], ['usage'], ['ledger', 'alice'], ['key', 'list', 'alice']]) {
      const { status, stdout } = await place.tollgate(...args);
      expect(status).to.equal(0);
      const lines = stdout.trimEnd().split('\n');
      expect(lines.length, args.join(' ')).to.be.above(1);
      expect(Math.max(...lines.map((line) => line.length)), args.join(' ')).to.be.at.most(90);
    }
  });

  it('refuse what is no status, time or dimension, in a sentence', async () => {
    for (const args of [
      ['requests', '--status', '6xx'],
      ['requests', '--since', 'later'],
      ['requests', '--limit', 'x'],
      ['requests', '--account', 'nobody'],
      ['usage', '--by', 'week'],
      ['usage', '--by', 'key', '--since', '31d'],
      ['usage', '--since', '2000-01-01'],
    ]) {
      const { status, stdout, stderr } = await place.tollgate(...args);
      expect(status, args.join(' ')).to.equal(1);
      expect(stdout).to.equal('');
      expect(stderr)
        .to.match(/^tollgate: .+\n/u)
        .and.not.include('    at ');
    }
  });

  it('follow requests, a record a line', async () => {
    const following = place.start('requests', '--follow', '--json', '--limit', '1');
    await until(() => following.stdout.includes('\n'), 'it shows the past');
    const answer = await chat({ url, secret }, { model: 'sim', messages: MESSAGES });
    const id = answer.headers.get('x-request-id') ?? randomUUID();
    await until(() => following.stdout.includes(id), 'it shows the new one');
    expect(await following.kill('SIGINT')).to.include({ status: 0, stderr: '' });
    const lines = following.stdout.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as View).status)).to.deep.equal([400, 200]);
  });

  it('follow requests as text that fits the terminal', async () => {
    const following = place.begin('requests', '--follow', '--status', '200');
    await until(() => following.stdout.split('\n').length > 2, 'it shows the past');
    await following.stop();
    for (const line of following.stdout.trimEnd().split('\n')) {
      expect(line).to.match(/^[\d:.]{12} 200 chat sim via simulator \d+\+\d+ tokens /u);
      expect(line.length).to.be.at.most(90);
    }
  });

  it('add up usage by day, model, account and key', async () => {
    type Row = Record<string, unknown> & { requests: number; cost: string };
    const usage = (by: string) => place.json<Row[]>('usage', '--by', by, '--since', '1h');
    const [ledger] = [await place.json<{ amount: string; kind: string }[]>('ledger', 'alice')];
    const charged = ledger.filter(({ kind }) => kind === 'charge');
    const spent = charged.reduce((sum, { amount }) => sum - Number(amount), 0);
    await eventually('the totals have all', async () => {
      const rows = await usage('account');
      return Math.abs(Number(rows[0]?.cost) - spent) < 1e-12;
    });
    expect((await usage('account'))[0]).to.include({ name: 'alice', account, failed: 1 });
    expect((await usage('model'))[0]).to.include({ model: 'sim', failed: 0 });
    expect((await usage('model'))[1]).to.include({ model: null, failed: 1 });
    expect((await usage('key'))[0]).to.include({ name: 'k' });
    expect((await usage('key'))[0]?.key).to.match(/^key_/u);
    expect((await usage('day')).at(-1)?.day).to.match(/^\d{4}-\d\d-\d\d$/u);
    expect(await place.json<Row[]>('usage', '--by', 'model', '--limit', '1')).to.have.length(1);
  });

  describe('tollgate status', () => {
    interface Status {
      serving: { ready: boolean; answers: boolean; reason: string; configuration: string | null };
      configuration: { errors: number; first_error: string | null };
      store: { kind: string; answers: boolean };
      waiting_charges: number;
      holds: { count: number; amount: string };
      upstreams: { name: string; answered: number }[];
      requests: { count: number; failed: number; error_rate: number; p95_ms: number };
    }
    const asked = async (...args: string[]) => {
      const { status, stdout } = await place.tollgate('status', '--json', ...args);
      return { status, report: JSON.parse(stdout) as Status };
    };

    it('says how the gateway, its configuration, its store and its upstreams are', async () => {
      const listen = url.replace('http://', '');
      let report: Status | undefined;
      await eventually('the upstreams are known', async () => {
        const found = await asked('--listen', listen);
        expect(found.status).to.equal(0);
        report = found.report;
        return report.upstreams.length > 0;
      });
      expect(report?.serving).to.deep.include({ ready: true, answers: true, configuration: null });
      expect(report?.configuration).to.deep.include({ errors: 0, first_error: null });
      expect(report?.store).to.deep.include({ kind: 'sqlite', answers: true });
      expect(report?.holds).to.deep.equal({ count: 0, amount: '0.00' });
      expect(report?.waiting_charges).to.equal(0);
      expect(report?.upstreams[0]).to.include({ name: 'simulator', failed: 0 });
      expect(report?.requests.count).to.be.at.least(3);
      expect(report?.requests.failed).to.equal(1);
      expect(report?.requests.p95_ms).to.be.a('number');
      const { stdout } = await place.tollgate('status', '--listen', listen);
      expect(stdout).to.match(/^serving +yes, ready, at 127\.0\.0\.1:\d+$/mu);
      expect(stdout).to.match(/^requests +\d+ since [\d:]{5} UTC, 1 failed \([\d.]+ %\), p95 /mu);
    });

    it('tells a fault of the configuration, while an older one serves', async () => {
      const listen = url.replace('http://', '');
      await place.write(`nonsense: 1\n${SIMULATED}`);
      try {
        await eventually('the probe tells', async () => {
          return (await asked('--listen', listen)).report.serving.configuration !== null;
        });
        const { status, report } = await asked('--listen', listen);
        expect(status).to.equal(0);
        expect(report.serving.configuration).to.include('line 1: unknown_key');
        expect(report.configuration.first_error).to.include('nonsense');
      } finally {
        await place.write(SIMULATED);
      }
    });

    it('exits 1 where nothing serves, or something else does', async () => {
      const { status, report } = await asked('--listen', '127.0.0.1:9');
      expect(status).to.equal(1);
      expect(report.serving).to.deep.include({ answers: false, ready: false });
      expect(report.serving.reason).to.include('nothing answers there');
      const { report: unknown } = await asked();
      expect(unknown.serving.reason).to.include('--listen');
    });
  });
});
