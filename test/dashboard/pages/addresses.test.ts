import { expect } from 'chai';
import { startDashboard } from '../../helpers/dashboard.js';
import { isLong } from '../../helpers/long.js';
import { onEachStore } from '../../store/helpers/ground.js';

const cursor = (place: unknown): string => Buffer.from(JSON.stringify(place)).toString('base64url');

/** What no page of ours has in its links. */
const HOSTILE = [
  '%00',
  'a%00b',
  '%ED%A0%80',
  'x'.repeat(5_000),
  '-1',
  '1e308',
  '0000-01-01',
  '9999-12-31T23:59',
  '%3Cscript%3E',
  '../../etc',
  ...[-1, 2 ** 53 - 1, 1e300, 'x', '\u0000', '\ud800', [1, 'x'], [[[]]], { a: 1 }, null].map(
    cursor,
  ),
];

/** The pages that read their address, and what they read of it. */
const PAGES: Record<string, string[]> = {
  '/requests': ['cursor', 'from', 'to', 'model', 'key', 'status', 'id'],
  '/operator/requests': ['cursor', 'from', 'model', 'key', 'account', 'provider', 'status', 'id'],
  '/operator/accounts': ['cursor'],
  '/operator/audit': ['cursor', 'account'],
  '/operator/tasks': ['cursor', 'status'],
  '/operator': ['over'],
  '/operator/profit': ['from', 'to'],
  '/usage': ['from', 'to', 'model', 'key', 'by', 'show'],
  '/models': ['q', 'can', 'owner', 'from'],
  '/settings/keys': ['done'],
  '/agents': ['model'],
  '/playground': ['model'],
  '/sign-in': ['return_to'],
  '/api/ledger': ['cursor', 'limit', 'reference'],
  '/api/usage': ['from', 'to', 'model', 'key'],
  '/api/profit': ['from', 'to', 'by'],
  '/api/audit': ['cursor', 'limit', 'account', 'since'],
  '/api/accounts': ['cursor', 'limit'],
  '/api/tasks': ['cursor', 'limit', 'status'],
};

/** What has such a value within its path. */
const PATHS = [
  '/requests/V',
  '/operator/requests/V',
  '/operator/accounts/V',
  '/operator/accounts/V/refund/V',
  '/operator/accounts/V/limits',
  '/operator/accounts/V/keys/V/edit',
  '/operator/accounts/V/keys/V/rotate',
  '/operator/accounts/V/keys/V/revoke',
  '/settings/keys/V/edit',
  '/settings/keys/V/rotate',
  '/settings/keys/V/revoke',
  '/models/V',
  '/docs/V',
  '/docs/images/V',
  '/api/accounts/V',
  '/api/accounts/V/ledger',
  '/api/accounts/V/keys',
];

onEachStore('the dashboard', (ground) => {
  it('breaks over no address that somebody has made up', async function () {
    this.timeout(600_000);
    const dashboard = await startDashboard({ store: JSON.stringify(ground.place.url) });
    const session = await dashboard.signIn(dashboard.account.id, true);
    const addresses = [
      ...Object.entries(PAGES).flatMap(([path, names]) =>
        names.flatMap((name) => [
          ...HOSTILE.map((value) => `${path}?${name}=${value}`),
          `${path}?${name}=1&${name}=2`,
        ]),
      ),
      ...PATHS.flatMap((path) => HOSTILE.map((value) => path.replaceAll('V', value))),
    ];
    const broken: string[] = [];
    // In the quick form a quarter of them, in which each value and each parameter has its turn.
    const visited = addresses.filter((_, at) => isLong || at % 4 === 0);
    for (const address of visited) {
      const headers = { cookie: `session=${session}` };
      const answer = await fetch(dashboard.url + address, { headers, redirect: 'manual' });
      await answer.arrayBuffer();
      if (answer.status >= 500) broken.push(`${answer.status} ${address.slice(0, 80)}`);
    }
    await dashboard.close();
    expect(broken).to.deep.equal([]);
  });
});
