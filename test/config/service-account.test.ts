import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from '../../src/config/load.js';
import { MODALITIES } from '../../src/modalities/index.js';
import type { Provider } from '../../src/core/provider.js';
import type { ConfigFault } from '../../src/core/config-fault.js';

const pem = (type: 'rsa' | 'ed25519'): string => {
  const { privateKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
      : generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
};
const KEY = {
  client_email: 'robot@example.com',
  private_key: pem('rsa'),
  token_uri: 'https://oauth2.googleapis.com/token',
};

describe('the service account of a provider', () => {
  let folder = '';
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function read(
    key: string,
    more = '',
  ): Promise<{ faults: readonly ConfigFault[]; provider: Provider | undefined }> {
    const file = join(folder, 'gateway.yaml');
    await writeFile(join(folder, 'key.json'), key);
    await writeFile(
      file,
      `owners: { a: { name: A } }
providers: { cloud: { uses: vertex, service_account: '\${file:key.json}'${more} } }
models:
  film:
    owner: a
    capabilities: [video]
    upstreams: [{ provider: cloud, model: veo-3.1-generate-001 }]
    price: { per_video_second: 0.4 }
`,
    );
    const { faults, configuration } = await load(file, {}, MODALITIES);
    return { faults, provider: configuration?.providers.get('cloud') };
  }

  it('is read from the text of a key file, in place of an API key', async () => {
    const { faults, provider } = await read(JSON.stringify(KEY));
    expect(faults).to.deep.equal([]);
    expect(provider?.service_account).to.deep.equal({
      client_email: KEY.client_email,
      private_key: KEY.private_key,
      token_url: KEY.token_uri,
    });
    expect(provider?.headers).to.deep.equal({});
  });

  it('requests tokens from Google if the key file names no token server', async () => {
    const { provider } = await read(JSON.stringify({ ...KEY, token_uri: undefined }));
    expect(provider?.service_account?.token_url).to.equal('https://oauth2.googleapis.com/token');
  });

  it("requests tokens from the operator's token_url, not from the key file's", async () => {
    const key = JSON.stringify({ ...KEY, token_uri: 'https://evil.example.com' });
    const { provider } = await read(key, ', token_url: http://127.0.0.1:7/t');
    expect(provider?.service_account?.token_url).to.equal('http://127.0.0.1:7/t');
  });

  for (const [what, key, more = ''] of [
    ['text that is no JSON', 'nonsense S3cr3t'],
    ['JSON that is no object', '["S3cr3t"]'],
    ['no client_email', JSON.stringify({ ...KEY, client_email: 7 })],
    ['no private key', JSON.stringify({ ...KEY, private_key: undefined })],
    ['a private key of nonsense', JSON.stringify({ ...KEY, private_key: 'S3cr3t' })],
    [
      'a private key that cannot sign RS256',
      JSON.stringify({ ...KEY, private_key: pem('ed25519') }),
    ],
    ['a token_uri elsewhere', JSON.stringify({ ...KEY, token_uri: 'https://evil.example.com/t' })],
    ['a token_uri without TLS', JSON.stringify({ ...KEY, token_uri: 'http://a.googleapis.com/t' })],
    [
      'a token_uri that looks alike',
      JSON.stringify({ ...KEY, token_uri: 'https://a-googleapis.com' }),
    ],
    ['an API key beside it', JSON.stringify(KEY), ', api_key: abc'],
  ]) {
    it(`is refused with ${what}, and not shown`, async () => {
      const { faults } = await read(String(key), more);
      expect(faults.map(({ code, line }) => [code, line])).to.deep.equal([
        ['bad_service_account', 2],
      ]);
      const said = JSON.stringify(faults);
      expect(said).to.not.match(/S3cr3t|PRIVATE KEY|evil/u);
    });
  }

  it('is refused with a token_url that is none', async () => {
    const { faults } = await read(JSON.stringify(KEY), ', token_url: nonsense');
    expect(faults.map(({ code }) => code)).to.deep.equal(['bad_url']);
  });
});
