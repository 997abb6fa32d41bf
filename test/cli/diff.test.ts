import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';

const RENAMED = SIMULATED.replace('  sim: {', '  sim-2: {');

describe('tollgate diff', () => {
  let place: Place;

  before(async () => {
    place = await makePlace(SIMULATED);
    await writeFile(join(place.folder, 'new.yaml'), RENAMED);
  });
  after(() => place.close());

  it('ends with status 1 where a client loses a model, and marks that line', async () => {
    const { status, stdout } = await place.tollgate('diff', 'gateway.yaml', 'new.yaml');
    expect(stdout).to.equal('- model sim is gone\n  model sim-2 is new\n');
    expect(status).to.equal(1);
  });

  it('ends with status 0 where nobody loses anything', async () => {
    const { status, stdout } = await place.tollgate('diff', 'new.yaml', 'new.yaml');
    expect([status, stdout]).to.deep.equal([0, 'Nothing changes for clients.\n']);
  });

  it('ends with status 2, not with that of a loss, where a file has faults', async () => {
    await writeFile(join(place.folder, 'faulty.yaml'), RENAMED.replace('owner:', 'ownr:'));
    for (const pair of [
      ['gateway.yaml', 'faulty.yaml'],
      ['faulty.yaml', 'gateway.yaml', '--json'],
    ]) {
      const { status, stdout, stderr } = await place.tollgate('diff', ...pair);
      expect([status, stdout]).to.deep.equal([2, '']);
      expect(stderr).to.include('faulty.yaml:').and.include('did you mean "owner"?');
    }
  });

  it('names the keys that lose a model, as one JSON document', async () => {
    await place.tollgate('account', 'create', 'ann');
    await place.tollgate('key', 'create', 'ann', '--name', 'k', '--model', 'sim');
    const { status, stdout } = await place.tollgate(
      'diff',
      'gateway.yaml',
      'new.yaml',
      '--keys',
      '--json',
    );
    expect(status).to.equal(1);
    const { differences } = JSON.parse(stdout) as { differences: { text: string }[] };
    expect(differences.at(-1)?.text).to.match(/^key key_\w+ of ann loses sim$/u);
  });
});
