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

  it('shows the variable of an unset address, not another address in its place', async () => {
    const variable = (name: string): string =>
      `public_url: '\${${name}_URL}'
${SIMULATED.replace('providers: {', `providers: { lab: { uses: openai, base_url: '\${${name}_LAB}/v1', api_key: k }, cloud: { uses: bedrock, region: '\${${name}_REGION}', access_key_id: k, secret_access_key: k },`)}`;
    await writeFile(join(place.folder, 'red.yaml'), variable('RED'));
    await writeFile(join(place.folder, 'blue.yaml'), variable('BLUE'));
    const { status, stdout } = await place.tollgate('diff', 'red.yaml', 'blue.yaml');
    expect(status).to.equal(0);
    expect(stdout.split('\n')).to.include.members([
      '  provider lab: its address is ${BLUE_LAB}/v1, ${RED_LAB}/v1 before',
      '  the gateway is at ${BLUE_URL}, ${RED_URL} before',
    ]);
    expect(stdout).to.match(/provider cloud: its address is \S+\$\{BLUE_REGION\}\S+, \S+ before/u);
    const same = await place.tollgate('diff', 'red.yaml', 'red.yaml');
    expect(same.stdout).to.equal('Nothing changes for clients.\n');
  });
});
