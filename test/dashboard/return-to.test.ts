import { expect } from 'chai';
import fc from 'fast-check';
import { returnTo } from '../../src/dashboard/return-to.js';

const HERE = 'https://ai.example.org';

describe('the page after a sign-in', () => {
  const kept = [
    '/',
    '/usage',
    '/usage?from=2026-01-01&by=day',
    '/settings/keys',
    '/a%20b?x=%2F%2Fy',
  ];
  for (const path of kept) {
    it(`is ${path}`, () => expect(returnTo(path, HERE)).to.equal(path));
  }

  const strays: unknown[] = [
    undefined,
    ['/usage', '/models'],
    '',
    'usage',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '\t//evil.example',
    '/\n/evil.example',
    '/\r\nlocation: https://evil.example',
    '/\u0000',
    '/usage\u202e',
    'https:evil.example',
    'https://evil.example',
    'https://ai.example.org.evil.example/',
    'https://ai.example.org@evil.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    '/.//evil.example',
    '/..//evil.example',
    '/%2e//evil.example',
    '/a/../..//evil.example',
    '/a/%2e%2E//evil.example',
    '/a\\..\\\\evil.example',
    `/${'x'.repeat(2000)}`,
  ];
  for (const path of strays) {
    it(`is / for ${JSON.stringify(path)?.slice(0, 60)}`, () =>
      expect(returnTo(path, HERE)).to.equal('/'));
  }

  it('is on this site for whatever anybody can think of', () => {
    const words = '/ \\ . .. %2e %2f %5c @ : ? # \t \n evil x'.split(' ');
    const piece = fc.constantFrom(...words);
    const text = fc.oneof(
      fc.string(),
      fc.array(piece).map((all) => `/${all.join('')}`),
    );
    fc.assert(
      fc.property(text, (wanted) => {
        const path = returnTo(wanted, HERE);
        expect(path).to.match(/^\/(?!\/)/u);
        expect(new URL(path, HERE).origin).to.equal(HERE);
        expect(returnTo(path, HERE)).to.equal(path);
      }),
      { numRuns: 2000 },
    );
  });
});
