import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { ERRORS, GatewayError, type ErrorCode } from '../../src/core/errors.js';
import { expectShape } from '../helpers/schemas.js';

const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');

/** The rows of the table in docs/api.md whose first cell is a code: code, status, type, when. */
function rows(): string[][] {
  const [, section = ''] = page.split(/^## Errors$/mu);
  const [table = ''] = section.split(/^## /mu);
  return table
    .split('\n')
    .filter((line) => /^\| *`/u.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}

describe('the table of errors', () => {
  it('is the one in docs/api.md', () => {
    const told = rows().map(([code, status, type]) => [code, { status: Number(status), type }]);
    expect(Object.fromEntries(told)).to.deep.equal(ERRORS);
    expect(told).to.have.length(Object.keys(ERRORS).length);
  });

  it('says of each when it comes', () => {
    for (const [code = '', , , when = ''] of rows()) expect(when, code).to.match(/\w/u);
  });

  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    it(`gives ${code} the one shape`, () => {
      const error = new GatewayError(code, 'It is so.', { param: 'messages[2].content' });
      expectShape('error', JSON.parse(JSON.stringify(error)));
      expect(error.status).to.be.within(400, 599);
    });
  }
});
