import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check, type CheckResult } from '../../src/gateway/check.js';

const HEAD = `owners: { me: { name: Me } }
providers: { simulator: {} }
models: { sim: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free } }
endpoints:
`;

const stage = (name: string): string =>
  `export default { name: '${name}', shape: { needs: ['caller'], gives: [] }, create: () => (_, next) => next() };`;

describe('stages that are added to endpoints', () => {
  let folder: string;

  const checked = async (...lines: string[]): Promise<CheckResult> => {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, `${HEAD}${lines.map((line) => `  ${line}\n`).join('')}`);
    return check(file, {});
  };
  const stagesOf = ({ configuration, faults }: CheckResult, name: string): string => {
    expect(faults).to.deep.equal([]);
    const found = configuration?.endpoints.find((one) => one.name === name);
    return (found?.stages ?? []).map((one) => one.name).join(' ');
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-insert-'));
    for (const name of ['mask', 'note']) {
      await writeFile(join(folder, `${name}.mjs`), stage(name));
    }
    await writeFile(join(folder, 'broken.mjs'), 'export default {};');
  });
  after(() => rm(folder, { recursive: true }));

  it('stand beside the stage they name, in every endpoint that has it', async () => {
    const all = '"*": { before: { transform: [./mask.mjs] }, after: { auth: [./note.mjs] } }';
    const found = await checked(all);
    expect(stagesOf(found, 'chat')).to.equal(
      'auth ./note.mjs validate route limit balance ./mask.mjs transform meter',
    );
    expect(stagesOf(found, 'models')).to.equal('auth ./note.mjs models');
    const own = found.configuration?.endpoints.find(({ name }) => name === 'chat');
    expect(own).to.include({ method: 'POST', path: '/v1/chat/completions' });
  });

  it('stand inside of those of "*" where an endpoint adds its own', async () => {
    const found = await checked(
      '"*": { before: { transform: [./mask.mjs] }, after: { transform: [./mask.mjs] } }',
      'chat: { before: { transform: [./note.mjs] }, after: { transform: [./note.mjs] } }',
    );
    expect(stagesOf(found, 'chat')).to.equal(
      'auth validate route limit balance ./mask.mjs ./note.mjs transform ./note.mjs ./mask.mjs meter',
    );
    expect(stagesOf(found, 'messages')).not.to.include('./note.mjs');
  });

  it('are added to an endpoint that the file writes out, in its own entry too', async () => {
    const stages =
      '[auth, validate: chat-completion, route: { capability: chat }, balance, transform: chat, meter]';
    const found = await checked(
      `talk: { at: POST /talk, stages: ${stages}, before: { balance: [./note.mjs] } }`,
      '"*": { after: { balance: [./mask.mjs] } }',
    );
    expect(stagesOf(found, 'talk')).to.equal(
      'auth validate route ./note.mjs balance ./mask.mjs transform meter',
    );
  });

  it('are checked in the endpoints they come to, and told once', async () => {
    const { faults } = await checked(
      '"*":',
      '  before: { auth: [./mask.mjs] }',
      '  after: { meter: [./msk.mjs, maskk] }',
    );
    expect(faults.map(({ code, line, column }) => [code, line, column])).to.deep.equal([
      ['missing_fact', 6, 22],
      ['plugin', 7, 22],
    ]);
    expect(faults[0]?.message).to.match(/"\.\/mask\.mjs" of endpoint "chat" needs .* \d+ more/u);
  });

  it('get the nearest right word where no stage is called so', async () => {
    const { faults } = await checked('"*": { after: { auth: [meterr] } }');
    expect(faults.map(({ code, line, column }) => [code, line, column])).to.deep.equal([
      ['unknown_stage', 5, 26],
    ]);
    expect(faults[0]?.hint).to.include('"meter"');
  });

  it('cannot spend money that the endpoint does not hold', async () => {
    const { faults } = await checked('models: { after: { auth: [transform: chat] } }');
    expect(faults.map(({ code }) => code)).to.include('missing_fact');
  });

  it('are read from the folder of the main file where an included file names them', async () => {
    await mkdir(join(folder, 'more'), { recursive: true });
    const more = 'endpoints: { "*": { before: { transform: [./mask.mjs] } } }\n';
    await writeFile(join(folder, 'more', 'stages.yaml'), more);
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, `include: [more/stages.yaml]\n${HEAD.replace('endpoints:\n', '')}`);
    expect(stagesOf(await check(file, {}), 'chat')).to.include('balance ./mask.mjs transform');
  });
});
