import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '../../src/gateway/check.js';
import { ConfigError } from '../../src/config/config-error.js';
import { checkOrThrow } from '../../src/gateway/gateway.js';
import { FAULTS, WHOLE, without } from '../fixtures/endpoints.js';

const HEAD = `owners: { me: { name: Me } }
providers: { simulator: {} }
models: { sim: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free } }
endpoints:
  talk:
    at: POST /v1/talk
    stages:
`;
const GIVES_WORK =
  'export default { name: "x", shape: { needs: [], gives: ["work:poem"] }, create() {} };';

describe('the pipeline type check', () => {
  let folder: string;
  let file: string;

  const write = (stages: string[]): Promise<void> =>
    writeFile(file, `${HEAD}${stages.map((stage) => `      - ${stage}\n`).join('')}`);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-inspect-'));
    file = join(folder, 'gateway.yaml');
    await writeFile(join(folder, 'poem.mjs'), GIVES_WORK);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('finds the usual order sound', async () => {
    await write(WHOLE);
    expect((await check(file, {})).faults).to.deep.equal([]);
  });

  it('lets a gate stand before the route, beside a balance after it', async () => {
    await write(['auth', 'balance: gate', ...WHOLE.slice(1)]);
    expect((await check(file, {})).faults).to.deep.equal([]);
  });

  it('asks for no money where nothing is spent', async () => {
    await write(['auth', 'models']);
    expect((await check(file, {})).faults).to.deep.equal([]);
  });

  const firstLine = HEAD.split('\n').length;
  for (const [what, stages, expected] of FAULTS) {
    it(`refuses ${what}, at its line and column`, async () => {
      await write(stages);
      const { faults, configuration } = await check(file, {});
      const places = faults.map(({ line, column, code }) => [line - firstLine, column, code]);
      const wanted = expected.map(([at, code]) => {
        const option = code === 'stage_option' ? /^\w+: (?=\S)/.exec(stages[at] ?? '') : null;
        return [at, 9 + (option?.[0].length ?? 0), code];
      });
      expect(places).to.deep.equal(wanted);
      for (const [at, [, , ...words]] of expected.entries()) {
        const { message = '', hint = '', ...fault } = faults[at] ?? {};
        expect(fault).to.include({ severity: 'error', file });
        expect(message).to.include('endpoint "talk"');
        for (const word of words) expect(`${message}; ${hint}`).to.include(word);
      }
      expect(configuration).to.equal(undefined);
      const served: unknown = await checkOrThrow(file, {}).catch((error: unknown) => error);
      expect(served).to.be.instanceOf(ConfigError);
    });
  }

  it('reports the faults of every endpoint', async () => {
    await write(without('meter'));
    const { faults: before } = await check(file, {});
    const text = `${HEAD}${'      - auth\n'}  other: { at: GET /v1/other, stages: [modles] }\n`;
    await writeFile(file, text.replace('- auth', '- autth'));
    const { faults } = await check(file, {});
    expect(before).to.have.length(1);
    expect(faults.map(({ code }) => code)).to.deep.equal(['unknown_stage', 'unknown_stage']);
    expect(faults[1]).to.include({ line: firstLine + 1, hint: 'did you mean "models"?' });
  });

  it('reports a stage that is too late everywhere once, with the place where it belongs', async () => {
    const [top = ''] = HEAD.split('endpoints:');
    await writeFile(file, `${top}endpoints: { '*': { after: { route: [mask] } } }\n`);
    const { faults } = await check(file, {});
    expect(faults.map(({ code, hint }) => [code, hint])).to.deep.equal([
      ['late_stage', 'put it right after "validate"'],
    ]);
  });
});
