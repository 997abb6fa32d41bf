import { expect } from 'chai';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';

const UNCLOSED = SIMULATED.replace('owner: me', 'owner: [me');

describe('commands that need only the store', () => {
  let place: Place;
  let store: string;
  before(async () => {
    place = await makePlace(SIMULATED);
    await place.json('account', 'create', 'ann', '--credit', '1');
    [store = ''] = /^store:.*$/mu.exec(SIMULATED) ?? [];
    expect(store).not.to.equal('');
  });
  after(() => place.close());

  it('are not blocked by a gateway.yaml that is no YAML elsewhere, and warn loudly', async () => {
    const { id } = await place.json<{ id: string }>('key', 'create', 'ann', '--name', 'leaked');
    await place.write(UNCLOSED);
    for (const args of [
      ['key', 'revoke', id],
      ['account', 'suspend', 'ann'],
      ['account', 'resume', 'ann'],
      ['sign-in-link', 'ann'],
      ['ledger', 'ann'],
    ]) {
      const { status, stdout, stderr } = await place.tollgate(...args);
      expect(status, stderr).to.equal(0);
      expect(stdout).not.to.equal('');
      expect(stderr).to.match(
        /^warning: gateway\.yaml is not valid YAML: line \d+, column \d+: [^\n]+never closed\.\n/u,
      );
    }
    const { status, stdout } = await place.tollgate('status', '--json');
    expect(status).to.equal(1);
    expect(JSON.parse(stdout)).to.have.nested.property('configuration.errors', 1);
  });

  it('use the block of the store in such a file', async () => {
    const { url = '' } = /^store: (?<url>\S+)/mu.exec(store)?.groups ?? {};
    const block = `store: # kept\n  # here\n  url: ${url}\n`;
    await place.write(UNCLOSED.replace(store, block));
    const { status, stderr } = await place.tollgate('key', 'list', 'ann');
    expect(status, stderr).to.equal(0);
    expect(stderr).to.include('is not valid YAML');
    const faulty = SIMULATED.replace(store, `${block}  conections: 3\n`);
    await place.write(faulty);
    expect((await place.tollgate('key', 'list', 'ann')).stderr).to.match(
      /^gateway\.yaml:\d+:3: error: unknown key "conections"/u,
    );
  });

  it('still refuse it where they need more of it, or it has no store that can be read', async () => {
    const refused = async (yaml: string, ...args: string[]): Promise<void> => {
      await place.write(yaml);
      const { status, stdout, stderr } = await place.tollgate(...args);
      expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr)
        .to.match(/^gateway\.yaml:\d+:\d+: error: /u)
        .and.include('never closed');
    };
    await refused(UNCLOSED, 'key', 'create', 'ann', '--name', 'k', '--model', 'sim');
    await refused(UNCLOSED, 'migrate');
    await refused(UNCLOSED.replace(store, ''), 'key', 'list', 'ann');
    await refused(UNCLOSED.replace(store, `${store}\n${store}`), 'key', 'list', 'ann');
    await refused(UNCLOSED.replace('store: ', 'store: "'), 'key', 'list', 'ann');
  });

  it('do not take the first of two stores without a word', async () => {
    await place.write(SIMULATED.replace(store, `${store}\nstore: sqlite:data/other.db`));
    const { status, stdout, stderr } = await place.tollgate('account', 'suspend', 'ann');
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.include('the key "store" stands twice');
  });

  for (const wrong of ['stor: ', 'stores: ', 'store: # ', 'store: [], x-store: ']) {
    it(`do not take the default store for "${wrong.trim()}", which may mean another`, async () => {
      const yaml = wrong.startsWith('store: [') ? SIMULATED.replace(store, 'store: []') : undefined;
      await place.write(yaml ?? SIMULATED.replace('store: ', wrong));
      const { status, stdout, stderr } = await place.tollgate('account', 'suspend', 'ann');
      expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr).to.include('write store: sqlite:PATH');
    });
  }
});
