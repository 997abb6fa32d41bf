import { expect } from 'chai';
import { columnsOf, hasColours, logStyle } from '../../src/cli/terminal.js';

const SCREEN = { isTTY: true, columns: 100 };

describe('the terminal of the command line', () => {
  it('gets a log in text, with colours unless they are refused', () => {
    const style = (log_format: 'auto' | 'text' | 'json', screen = {}, env = {}) =>
      logStyle({ log_format }, screen, env);
    expect(style('auto', SCREEN)).to.equal('coloured');
    expect(style('auto', SCREEN, { NO_COLOR: '1' })).to.equal('text');
    expect(style('auto', SCREEN, { TERM: 'dumb' })).to.equal('text');
    expect(style('json', SCREEN)).to.equal('json');
  });

  it('is not needed for a log in text, but for its colours', () => {
    expect(logStyle({ log_format: 'auto' }, {}, {})).to.equal('json');
    expect(logStyle({ log_format: 'text' }, {}, {})).to.equal('text');
    expect(hasColours({}, {})).to.equal(false);
    expect(hasColours(SCREEN, { NO_COLOR: '' })).to.equal(true);
  });

  it('says how wide a table may be', () => {
    expect(columnsOf(SCREEN, { COLUMNS: '60' })).to.equal(100);
    expect(columnsOf({}, { COLUMNS: '60' })).to.equal(60);
    expect(columnsOf({}, {})).to.equal(undefined);
    expect(columnsOf({}, { COLUMNS: '0' })).to.equal(undefined);
  });
});
