import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { defaultEndpoints } from '../../src/config/endpoints.js';
import { endpointOperation } from '../../src/dashboard/openapi/endpoints.js';
import { check, checkOrThrow } from '../../src/gateway/check.js';
import { previewRequests } from '../../src/gateway/preview.js';
import { MODALITIES } from '../../src/modalities/index.js';

const FILE = `owners: { acme: { name: Acme } }
providers: { simulator: {} }
models:
  m: { owner: acme, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }
endpoints:
`;
const OFF = defaultEndpoints(MODALITIES).map(({ name }) => `  ${name}: off\n`);

/** Stages of the operator's own, with the contracts of auth, validate, route and balance. */
const OWN_STAGES = {
  key: "{ needs: [], gives: ['caller'] }",
  body: "{ needs: [], gives: ['request:chat-completion'], records: true, format: 'chat-completion' }",
  plan: "{ needs: ['caller', 'request:chat-completion'], gives: ['model', 'work:chat'] }",
  money: "{ needs: ['caller', 'work'], gives: ['hold'], money: 'holds' }",
};
const PAID = '{ transform: chat }, meter]';
const SHIPPED = `[auth, validate: chat-completion, route: { capability: chat }, balance, ${PAID}`;
const OWN = `[./key.mjs, ./body.mjs, ./plan.mjs, ./money.mjs, ${PAID}`;

describe('a model that no endpoint routes to', () => {
  let folder: string;
  let file: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-reached-'));
    file = join(folder, 'gateway.yaml');
    for (const [name, shape] of Object.entries(OWN_STAGES)) {
      const create = 'create: () => (_ctx, next) => next()';
      const text = `export default { name: '${name}', shape: ${shape}, ${create} };\n`;
      await writeFile(join(folder, `${name}.mjs`), text);
    }
  });
  after(() => rm(folder, { recursive: true }));

  const withChat = (stages: string): Promise<void> => {
    const others = OFF.filter((line) => !line.includes(' chat:'));
    return writeFile(
      file,
      `${FILE}${others.join('')}  chat: { at: POST /chat, stages: ${stages} }\n`,
    );
  };

  it('is refused', async () => {
    await writeFile(file, FILE + OFF.join(''));
    const { faults, configuration } = await check(file, {});
    expect(faults.map(({ code, line }) => [code, line])).to.deep.equal([['unreached_model', 4]]);
    expect(configuration).to.equal(undefined);
  });

  it("is reached, documented and previewed by stages of the operator's own", async () => {
    const told = async (stages: string): Promise<unknown[]> => {
      await withChat(stages);
      const { configuration } = await checkOrThrow(file, {});
      const [endpoint] = configuration.endpoints;
      const model = configuration.models.get('m');
      if (!endpoint || !model) throw new Error('There is no endpoint, or no model.');
      const body = { messages: [{ role: 'user', content: 'Hi' }] };
      const preview = await previewRequests(body, model, configuration);
      return [endpointOperation(endpoint, 'chat'), preview];
    };
    expect(await told(OWN)).to.deep.equal(await told(SHIPPED));
  });
});
