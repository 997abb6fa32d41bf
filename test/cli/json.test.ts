import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import type { Outcome } from '../helpers/run-command.js';
import { allCommands } from '../helpers/commands.js';

type Arguments = (
  known: Record<'account' | 'key' | 'task' | 'charge' | 'token', string>,
) => string[];

interface Calls {
  good: Arguments;
  bad: Arguments | undefined;
  /** The exit status of `good`, where that is not 0. */
  exits?: number;
}

const BILL_COLUMNS = ['--columns', 'day=Day,model=Model,cost=Cost', '--provider', 'simulator'];

/**
 * How each command is called so that it succeeds, and so that it fails; undefined where no call of
 * it fails. A new command needs a line here.
 */
const CALLS: Record<string, Calls> = {
  init: { good: () => ['new.yaml', '--no-local'], bad: () => ['gateway.yaml', '--no-local'] },
  serve: { good: () => [], bad: () => ['--listen', 'nowhere'] },
  check: { good: () => [], bad: () => ['none.yaml'] },
  schema: { good: () => ['provider'], bad: undefined },
  explain: { good: () => ['sim'], bad: () => ['none'] },
  diff: { good: () => ['gateway.yaml', 'gateway.yaml'], bad: () => ['gateway.yaml', 'none.yaml'] },
  probe: { good: () => ['sim'], bad: () => ['none'] },
  'prices update': {
    good: () => ['--config', 'paid.yaml', '--from', 'api.json', '--dry-run'],
    bad: () => ['--from', 'none.json'],
  },
  connect: { good: () => ['aider'], bad: () => ['none'] },
  'account create': { good: () => ['bob', '--credit', '1'], bad: () => ['ann'] },
  'account list': { good: () => [], bad: () => ['--config', 'none.yaml'] },
  'account edit': { good: () => ['eve', '--allowance', 'day=5.00'], bad: () => ['none'] },
  'account suspend': { good: () => ['eve'], bad: () => ['none'] },
  'account resume': { good: () => ['eve'], bad: () => ['none'] },
  refund: { good: ({ charge }) => [charge], bad: () => ['none'] },
  credit: { good: () => ['ann', '1.00'], bad: () => ['ann', 'much'] },
  'key create': { good: () => ['ann', '--name', 'k'], bad: () => ['none', '--name', 'k'] },
  'key list': { good: () => ['ann'], bad: () => ['none'] },
  'key edit': { good: ({ key }) => [key, '--limit', 'none'], bad: () => ['key_none'] },
  'key rotate': { good: ({ key }) => [key, '--overlap', '24h'], bad: () => ['key_none'] },
  'key revoke': { good: ({ key }) => [key], bad: () => ['key_none'] },
  'box list': { good: () => [], bad: () => ['--config', 'none.yaml'] },
  'provider resume': {
    good: () => ['simulator'],
    bad: () => ['simulator', '--config', 'none.yaml'],
  },
  ledger: { good: () => ['ann'], bad: () => ['none'] },
  requests: { good: () => [], bad: () => ['--limit', '0'] },
  usage: { good: () => [], bad: () => ['--limit', '0'] },
  // Nothing serves here, which is what it tells.
  status: { good: () => [], bad: undefined, exits: 1 },
  'sign-in-link': { good: () => ['ann'], bad: () => ['none'] },
  'task list': { good: () => [], bad: () => ['--limit', '0'] },
  'task show': { good: ({ task }) => [task], bad: () => ['none'] },
  'token create': {
    good: () => ['shop', '--scope', 'accounts:read'],
    bad: () => ['shop', '--scope', 'none'],
  },
  'token list': { good: () => [], bad: () => ['--config', 'none.yaml'] },
  'token revoke': { good: ({ token }) => [token], bad: () => ['none'] },
  audit: { good: () => [], bad: () => ['--limit', '0'] },
  verify: { good: () => [], bad: () => ['--config', 'none.yaml'] },
  reconcile: { good: () => ['bill.csv', ...BILL_COLUMNS], bad: () => ['none.csv'] },
  backup: { good: () => ['copy.db'], bad: () => ['none/copy.db'] },
  copy: {
    good: () => ['sqlite:data/tollgate.db', 'sqlite:copied.db'],
    bad: () => ['sqlite:none.db', 'sqlite:copied.db'],
  },
  migrate: { good: () => [], bad: () => ['--config', 'none.yaml'] },
  completion: { good: () => ['bash'], bad: () => [] },
};

const FILE = `${SIMULATED}  film: { owner: me, capabilities: [video], upstreams: [{ provider: simulator }], price: free }
  dear: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: { input_per_million: 100, output_per_million: 100 } }
first_start: { account: zoe, credit: 1 }
`;

describe('--json', () => {
  let place: Place;
  let known: Parameters<Arguments>[0];
  before(async () => {
    place = await makePlace(FILE);
    const entry =
      '{ owner: us, capabilities: [chat], upstreams: [{ provider: openai }], price: list }';
    const text = `owners: { us: { name: Us } }\nproviders: { openai: { api_key: k } }\nmodels: { gpt-4o: ${entry} }\n`;
    await writeFile(join(place.folder, 'paid.yaml'), text);
    const models = { 'gpt-4o': { cost: { input: 1, output: 2 } } };
    await writeFile(join(place.folder, 'api.json'), JSON.stringify({ openai: { models } }));
    await writeFile(join(place.folder, 'bill.csv'), 'Day,Model,Cost\n2026-10-01,sim,0.00\n');
    const { id: account } = await place.json<{ id: string }>(
      'account',
      'create',
      'ann',
      '--credit',
      '5',
    );
    await place.json('account', 'create', 'eve');
    const scope = ['--scope', 'accounts:read'];
    const { id: token } = await place.json<{ id: string }>('token', 'create', 'first', ...scope);
    const made = () =>
      place.json<{ id: string; secret: string }>('key', 'create', 'ann', '--name', 'first');
    const [{ id: key }, { secret }] = [await made(), await made()];
    const serving = place.begin('serve');
    const url = await serving.url();
    const post = (path: string, body: object) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const submitted = await post('/v1/queue/film', { prompt: 'A film', duration_seconds: 4 });
    const messages = [{ role: 'user', content: 'Hi' }];
    const paid = await post('/v1/chat/completions', { model: 'dear', messages });
    expect(paid.status).to.equal(200);
    const charge = paid.headers.get('x-request-id') ?? '';
    const { request_id: task = '' } = (await submitted.json()) as { request_id?: string };
    expect(task).not.to.equal('');
    await serving.stop();
    known = { account, key, task, charge, token };
  });
  after(() => place.close());

  it('is an option of every command, and each is called here', async () => {
    const leaves = (await allCommands(place)).filter(({ commands }) => commands.length === 0);
    expect(leaves.map(({ path }) => path)).to.have.members(Object.keys(CALLS));
    const without = leaves.filter(({ options }) => !options.includes('--json'));
    expect(without.map(({ path }) => path)).to.deep.equal([]);
  });

  /** Runs a command to its end; `serve` is stopped once it has printed. */
  async function outcome(path: string, args: string[]): Promise<Outcome> {
    if (path !== 'serve') return place.tollgate(...path.split(' '), ...args, '--json');
    return place.begin(path, ...args, '--json').stop();
  }

  for (const [path, { good, bad, exits = 0 }] of Object.entries(CALLS)) {
    it(`prints one document and nothing else for ${path}`, async () => {
      const { status, stdout, stderr } = await outcome(path, good(known));
      expect(status, stderr).to.equal(exits);
      expect(JSON.parse(stdout)).to.be.an.instanceof(Object);
      // The log of a server is on standard error.
      if (path !== 'serve') expect(stderr).to.equal('');
    });

    if (!bad) continue;
    it(`prints one sentence on standard error where ${path} fails`, async () => {
      const { status, stdout, stderr } = await outcome(path, bad(known));
      expect(status).to.be.oneOf([1, 2]);
      expect(stdout).to.equal('');
      expect(stderr).to.match(/^tollgate: [^\n]+\n$/u);
    });
  }

  it('gives the faults of check as a document, and exit status 1', async () => {
    await place.write(FILE.replace('owner: me', 'owner: you'));
    const { status, stdout, stderr } = await place.tollgate('check', '--json');
    expect({ status, stderr }).to.deep.equal({ status: 1, stderr: '' });
    const { faults } = JSON.parse(stdout) as { faults: { code: string }[] };
    expect(faults.map(({ code }) => code)).to.deep.equal(['unknown_owner']);
  });

  it('names one fault of a configuration and counts the others', async () => {
    await place.write(FILE.replaceAll('owner: me', 'owner: you'));
    const { status, stdout, stderr } = await place.tollgate('explain', 'sim', '--json');
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.match(
      /^tollgate: gateway\.yaml:6:\d+: error: [^\n]+ \(and 2 more: [^\n]+\n$/u,
    );
  });
});
