import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { placeOfStore } from '../../../src/core/store-place.js';
import { openStore } from '../../../src/store/open.js';
import type { Store } from '../../../src/store/store-types.js';
import { dollars, refusal } from '../helpers/ground.js';
import { startCluster, type Cluster } from '../helpers/cluster.js';

/** Makes an authority, and by it the certificate of a server at `names`. */
function makeCertificates(folder: string, names: string): void {
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  };
  const key = ['-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  for (const authority of ['ca', 'other']) {
    const named = ['-subj', '/CN=Authority', '-keyout', `${authority}.key`];
    openssl('req', '-x509', ...key, ...named, '-out', `${authority}.pem`);
  }
  writeFileSync(join(folder, 'names'), `subjectAltName=${names}`);
  openssl('req', ...key, '-subj', '/CN=db', '-keyout', 'server.key', '-out', 'server.csr');
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names'];
  openssl('x509', '-req', '-in', 'server.csr', ...signed, '-days', '2', '-out', 'server.pem');
  for (const file of ['server.key', 'server.pem']) {
    execFileSync('chmod', ['600', file], { cwd: folder });
    if (process.getuid?.() === 0) execFileSync('chown', ['postgres', file], { cwd: folder });
  }
}

describe('a store with a certificate of an authority of its own', function () {
  let cluster: Cluster;
  const now = Date.now;

  before(async function () {
    if (!process.env.TOLLGATE_TEST_POSTGRES) this.skip();
    cluster = await startCluster();
    makeCertificates(cluster.folder, 'IP:127.0.0.1');
    const files = ['cert_file=server.pem', 'key_file=server.key'];
    const options = files.map((one) => `-c ssl_${one.replace('=', `=${cluster.folder}/`)}`);
    cluster.restart(`-c ssl=on ${options.join(' ')}`);
  });
  after(() => cluster?.stop());

  const open = (ca: string, change: (url: string) => string = String): Promise<Store> => {
    const url = change(cluster.url);
    return openStore(
      { ...placeOfStore(url), ca: join(cluster.folder, ca) },
      {
        now,
        wait_ms: 60_000,
      },
    );
  };

  it('is opened by TLS alone, for calls and for pages', async () => {
    // Without the authority it would be refused.
    const store = await open('ca.pem', (url) => `${url}?sslmode=require`);
    const { id } = await store.createAccount('ann', dollars(1));
    expect(await store.hold('r', id, 1n)).to.include({ admitted: true });
    await store.release('r', id);
    await store.close();
  });

  it('is found among several hosts', async () => {
    const store = await open('ca.pem', (url) => url.replace('@', '@127.0.0.1:1,'));
    expect(await store.account('ann')).to.include({ balance_nano: dollars(1) });
    await store.close();
  });

  it('is refused at once, in a sentence, by another authority or for another host', async () => {
    expect(await refusal(open('other.pem'))).to.match(
      /^StoreError: The store cannot be opened: the certificate of PostgreSQL is refused \(.+\): its authority is not \S+other\.pem$/u,
    );
    expect(await refusal(open('ca.pem', (url) => url.replace('127.0.0.1', 'localhost')))).to.match(
      /^StoreError: .+certificate of PostgreSQL is refused \(.+localhost.+\)$/u,
    );
    expect(
      await refusal(openStore(`${cluster.url}?sslmode=require`, { now, wait_ms: 60_000 })),
    ).to.match(/: name its authority in "ca"$/u);
  });

  it('is refused where the server has no TLS, or the file is gone', async () => {
    expect(await refusal(open('gone.pem'))).to.match(/^StoreError: A certificate .+ ENOENT/u);
    cluster.restart();
    const plain = openStore(
      { ...placeOfStore(cluster.url), ca: join(cluster.folder, 'ca.pem') },
      { now },
    );
    expect(await refusal(plain)).to.include('does not support SSL');
  });
});
