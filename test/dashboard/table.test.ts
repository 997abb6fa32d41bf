import { expect } from 'chai';
import { RouteTable } from '../../src/dashboard/table.js';
import type { Route } from '../../src/dashboard/types.js';

const route = (method: Route['method'], path: string): Route => ({
  method,
  path,
  who: 'anyone',
  answer: () => undefined,
});

const table = new RouteTable([
  route('GET', '/'),
  route('GET', '/sign-in'),
  route('GET', '/sign-in/link'),
  route('GET', '/sign-in/:provider'),
  route('GET', '/sign-in/:provider/callback'),
  route('GET', '/api/keys'),
  route('POST', '/api/keys'),
  route('DELETE', '/api/keys/:keyID'),
  route('GET', '/assets/*file'),
]);

describe('the table of routes', () => {
  const cases: [path: string, methods: string[] | undefined, params?: object][] = [
    ['/', ['GET']],
    ['/api/keys', ['GET', 'POST']],
    ['/sign-in/link', ['GET']],
    ['/sign-in/google', ['GET'], { provider: 'google' }],
    ['/sign-in/a%2Fb/callback', ['GET'], { provider: 'a/b' }],
    ['/api/keys/k%C3%A9', ['DELETE'], { keyID: 'ké' }],
    ['/assets/a/b.css', ['GET'], { file: 'a/b.css' }],
    ['/assets/', undefined],
    ['/api/keys/', undefined],
    ['/api/keys/%zz', undefined],
    ['/api/keys/a/b', undefined],
    ['/API/keys', undefined],
    ['/sign-in/google/else', undefined],
    ['/v1/models', undefined],
    ['/__proto__/x', undefined],
    ['', undefined],
  ];
  for (const [path, methods, params = {}] of cases) {
    it(`finds ${methods?.join(' and ') ?? 'nothing'} at "${path}"`, () => {
      const found = table.find(path);
      expect(found && [...found.routes.keys()]).to.deep.equal(methods);
      if (found) expect(found.params).to.deep.equal(params);
    });
  }

  it('takes no route twice', () => {
    expect(() => new RouteTable([route('GET', '/a'), route('GET', '/a')])).to.throw('/a');
    expect(() => new RouteTable([route('GET', '/a/:b'), route('GET', '/a/:b')])).to.throw('/a/:b');
  });
});
