import { expect } from 'chai';
import { FIXTURES, faultsOf } from './helpers/fixtures.js';

/** Of its providers, the variable SECRET is the key. */
const FILE = `${FIXTURES}key-of-absent-provider.yaml.txt`;

async function faultsIn(env: NodeJS.ProcessEnv): Promise<string[]> {
  const { faults } = await faultsOf(FILE, env);
  return faults.map(({ code, severity, hint }) => `${code} ${severity} ${hint}`);
}

describe('the variable of a key', () => {
  for (const value of ['sk-...', 'changeme', 'your-key-here', '<KEY>', 'xxxxxxxx']) {
    it(`that was left as ${value}, as in an example, is told`, async () => {
      const faults = await faultsIn({ OPENAI_API_KEY: value });
      expect(faults.join('\n')).to.match(
        /^placeholder warning set OPENAI_API_KEY to the real one/m,
      );
    });
  }

  for (const value of ['"sk-abc', 'sk-abc"', "'sk-abc"]) {
    it(`with a quote that was not closed, ${value}, is told`, async () => {
      const faults = await faultsIn({ OPENAI_API_KEY: value });
      expect(faults.join('\n')).to.match(/^bad_api_key error end the quote in its variable/m);
    });
  }

  it('that is not set is shown in the form of the file .env', async () => {
    const faults = await faultsIn({});
    expect(faults.join('\n')).to.match(/^unset_variable error .*\.env .*: OPENAI_API_KEY=VALUE$/m);
  });

  it('that holds a key is not told', async () => {
    expect(await faultsIn({ OPENAI_API_KEY: 'sk-abcdef' })).to.have.lengthOf(1);
  });
});
