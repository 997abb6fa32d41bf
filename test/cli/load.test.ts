import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from '../../src/cli/load.js';
import { SIMULATED } from '../helpers/cli.js';

describe('the address of a gateway with --listen', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-load-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function publicUrl(yaml: string, listen?: string): Promise<string> {
    const config = join(folder, 'gateway.yaml');
    await writeFile(config, `${SIMULATED.replace(/^listen:.*\n/mu, '')}${yaml}`);
    const { configuration } = await load({ config, ...(listen !== undefined && { listen }) });
    return configuration.public_url;
  }

  const ROWS: [yaml: string, listen: string | undefined, public_url: string][] = [
    ['', undefined, 'http://127.0.0.1:8080'],
    ['', '127.0.0.1:9090', 'http://127.0.0.1:9090'],
    ['', '[::1]:9090', 'http://[::1]:9090'],
    ['', ':9090', 'http://127.0.0.1:9090'],
    ['', '0.0.0.0:9090', 'http://127.0.0.1:9090'],
    ['listen: 10.1.2.3:80\n', '[::]:9090', 'http://10.1.2.3:9090'],
    ['public_url: http://127.0.0.1:8080\n', '127.0.0.1:9090', 'http://127.0.0.1:8080'],
    ['public_url: https://ai.example.com\n', ':9090', 'https://ai.example.com'],
  ];
  for (const [yaml, listen = 'none', public_url] of ROWS) {
    it(`is ${public_url} with ${listen} and ${yaml.trim() || 'no address in the file'}`, async () => {
      expect(await publicUrl(yaml, listen === 'none' ? undefined : listen)).to.equal(public_url);
    });
  }
});
