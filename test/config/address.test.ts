import { expect } from 'chai';
import { load } from '../../src/config/load.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { ENV, FIXTURES } from './helpers/fixtures.js';

describe('the address of a provider', () => {
  it('has the parts of the entry where its manifest names them', async () => {
    const { configuration } = await load(`${FIXTURES}sound-signer.yaml.txt`, ENV, MODALITIES);
    const of = (name: string): unknown => {
      const provider = configuration?.providers.get(name);
      return provider && [provider.base_url, provider.wire.edition];
    };
    expect(of('a')).to.deep.equal(['https://acme.us-east-1.example.com', '2024-10-21']);
    expect(of('b')).to.deep.equal(['https://acme.us-east-1.example.com', 'v1']);
    expect(of('c')).to.deep.equal(['http://127.0.0.1:9000/v1', '2024-10-21']);
  });

  it('keeps signing keys and API keys apart', async () => {
    const { configuration } = await load(`${FIXTURES}sound-signer.yaml.txt`, ENV, MODALITIES);
    const [signed, keyed] = ['a', 'b'].map((name) => configuration?.providers.get(name));
    expect(signed?.headers).to.deep.equal({});
    expect(signed?.signer?.credentials).to.deep.equal({
      region: 'us-east-1',
      access_key_id: 'AKID',
      secret_access_key: ENV.SECRET,
    });
    expect(keyed?.headers).to.deep.equal({ authorization: `Bearer ${ENV.SECRET}` });
    expect(keyed).not.to.have.property('signer');
  });
});
