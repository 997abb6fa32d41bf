import { expect } from 'chai';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';

describe('the assets of the pages', () => {
  let dashboard: TestDashboard;
  let paths: string[];

  before(async () => {
    dashboard = await startDashboard();
    const page = await (await fetch(`${dashboard.url}/sign-in`)).text();
    paths = Array.from(
      page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/gu),
      ([, path = '']) => path,
    );
  });
  after(() => dashboard.close());

  it('are there for anyone, to be kept for good', async () => {
    expect(paths.length).to.be.greaterThan(5);
    const types = new Set<string | null>();
    for (const path of paths) {
      const answer = await fetch(dashboard.url + path);
      expect(answer.status, path).to.equal(200);
      expect(answer.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
      types.add(answer.headers.get('content-type'));
    }
    expect(Array.from(types)).to.have.members([
      'image/svg+xml',
      'text/css; charset=utf-8',
      'text/javascript; charset=utf-8',
    ]);
  });

  it('find one another by relative paths', async () => {
    const all = paths.find((path) => path.endsWith('/all.js')) ?? '';
    const found = new Set(['./all.js', './playground.js']);
    for (const name of found) {
      const answer = await fetch(new URL(name, dashboard.url + all));
      expect(answer.status, name).to.equal(200);
      const imports = (await answer.text()).matchAll(/from ?["'](\.[^"']+)["']/gu);
      for (const [, imported = ''] of imports) found.add(imported);
    }
    expect(Array.from(found)).to.include.members(['./copy.js', './marked.js', './call-code.js']);
  });

  const strays = [
    '/assets/0000000000000000/base.css',
    '/assets/HASH/nothing.css',
    '/assets/HASH/..%2Fbase.css',
    '/assets/HASH/constructor',
  ];
  for (const stray of strays) {
    it(`are not at ${stray}`, async () => {
      const hash = paths[0]?.split('/')[2] ?? '';
      const answer = await fetch(dashboard.url + stray.replace('HASH', hash));
      expect(answer.status).to.equal(404);
      expect(answer.headers.get('cache-control')).to.equal('no-store');
    });
  }
});
