import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '../../src/gateway/check.js';

const HEAD = `owners: { me: { name: Me } }
providers: { simulator: {} }
models: { sim: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free } }
endpoints:
`;
const MASK = '{ after: { validate: [mask: { patterns: [email] }] } }';

describe('filters at some endpoints only', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-filters-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const faultsOf = async (...lines: string[]) => faultsWith(HEAD, ...lines);

  const faultsWith = async (head: string, ...lines: string[]) => {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, `${head}${lines.map((line) => `  ${line}\n`).join('')}`);
    const { faults } = await check(file, {});
    return faults.map(({ severity, code, line, message, hint }) => ({
      severity,
      at: `${line} ${code}`,
      words: `${message}; ${hint}`,
    }));
  };

  it('are a warning, which names the open endpoints and the way to close them', async () => {
    const [found, ...others] = await faultsOf(`chat: ${MASK}`);
    expect(others).to.deep.equal([]);
    expect(found).to.include({ severity: 'warning', at: '5 partial_filter' });
    expect(found?.words).to.match(/stage "mask" stands at "chat", but not at POST \/\S+, POST/);
    expect(found?.words).to.include('"*": { after: { validate: [mask: ...] } }');
  });

  it('are none where all endpoints have the filter', async () => {
    expect(await faultsOf(`'*': ${MASK}`)).to.deep.equal([]);
  });

  it('concern the endpoints of the same work alone', async () => {
    const [found] = await faultsWith(HEAD.replace('[chat]', '[chat, image]'), `images: ${MASK}`);
    expect(found?.at).to.equal('5 partial_filter');
    const paths = found ? [...found.words.matchAll(/POST \/\S+/g)].map(([one]) => one) : [];
    expect(paths.join()).to.not.include('/v1/chat');
  });

  it('are a warning where no model of the file answers', async () => {
    const found = await faultsOf(`images: ${MASK}`);
    expect(found.map(({ at }) => at)).to.deep.equal(['5 partial_filter']);
    expect(found[0]?.words).to.include('"images", where no model of the file answers');
  });
});
