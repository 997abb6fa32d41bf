import { expect } from 'chai';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { check } from '../../src/gateway/check.js';
import { checkOrThrow } from '../../src/gateway/gateway.js';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { ask, completionOf, errorOf, type Answer } from '../helpers/ask.js';

const MASK = await readFile(new URL('../fixtures/plugins/mask-email.js', import.meta.url), 'utf8');
const STAGE = '{ name: "x", shape: { needs: [], gives: [] }, create: () => (ctx, next) => next() }';

function endpointWith(stage: string): string {
  return `endpoints:
  chat: { at: "POST /v1/chat/completions", stages: [auth, validate: chat-completion, ${stage}, route: { capability: chat }, balance, transform: chat, meter] }
`;
}

describe("an operator's own stage", () => {
  let acme: OpenaiGateway;

  const say = (content: unknown): Promise<Answer> =>
    ask(acme, '/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme-all', messages: [{ role: 'user', content }] }),
    });

  afterEach(() => acme.close());

  it('beside gateway.yaml changes the request to the upstream', async () => {
    const yaml = endpointWith('./mask-email.js');
    acme = await startOpenaiGateway({ yaml }, { files: { 'mask-email.js': MASK } });
    completionOf(await say('Write to ann@example.com or bob.b@mail.example.org.'));
    expect(acme.sent().messages).to.deep.equal([
      { role: 'user', content: 'Write to [email] or [email].' },
    ]);
    const image = { type: 'image_url', image_url: { url: 'https://ann@example.com/1.png' } };
    completionOf(await say([{ type: 'text', text: 'I am ann@example.com' }, image]));
    expect(acme.sent().messages).to.deep.equal([
      { role: 'user', content: [{ type: 'text', text: 'I am [email]' }, image] },
    ]);
  });

  it('shows nothing of its failure to the client, and costs nothing', async () => {
    const failing = `export default { ...${STAGE}, create: () => () => { throw new Error('secret'); } };`;
    acme = await startOpenaiGateway(
      { yaml: endpointWith('./fail.mjs') },
      { files: { 'fail.mjs': failing } },
    );
    const answer = await say('Hello!');
    expect(answer.status).to.equal(500);
    expect(errorOf(answer).code).to.equal('internal_error');
    expect(answer.text).not.to.include('secret');
    const account = await acme.gateway.store.account(acme.account.id);
    expect(account).to.include({ balance_nano: 10_000_000_000n, held_nano: 0n });
  });

  it('refuses as in any Koa application, in the one error shape', async () => {
    const own = `export default { ...${STAGE}, create: () => (ctx) => ctx.throw(403, 'Not today.') };`;
    acme = await startOpenaiGateway(
      { yaml: endpointWith('./no.mjs') },
      { files: { 'no.mjs': own } },
    );
    const answer = await say('Hello!');
    expect(answer.status).to.equal(403);
    expect(errorOf(answer)).to.include({ code: 'invalid_request', message: 'Not today.' });
  });

  it('leaves no words of another status on an error', async () => {
    const own = `export default { ...${STAGE}, create: () => (ctx) => { ctx.status = 201; ctx.throw(422, 'No.'); } };`;
    acme = await startOpenaiGateway(
      { yaml: endpointWith('./own.mjs') },
      { files: { 'own.mjs': own } },
    );
    const answer = await say('Hello!');
    expect(answer.status).to.equal(422);
    expect(answer.reason).to.equal('Unprocessable Entity');
  });

  for (const [how, body] of [
    ['throws at once', "throw new Error('no promise');"],
    ['answers at once', 'ctx.body = { greeting: "Hi" };'],
  ] as const) {
    it(`gets a promise of what follows, also where that ${how}`, async () => {
      const first = `export default { ...${STAGE}, create: () => (ctx, next) =>
        next().catch(() => { ctx.body = { greeting: 'none' }; }).then(() => { ctx.body.seen = true; }) };`;
      const second = `export default { ...${STAGE}, create: () => (ctx) => { ${body} } };`;
      const files = { 'first.mjs': first, 'second.mjs': second };
      acme = await startOpenaiGateway(
        { yaml: endpointWith('./first.mjs, ./second.mjs') },
        { files },
      );
      const greeting = how === 'throws at once' ? 'none' : 'Hi';
      expect(JSON.parse((await say('Hello!')).text)).to.deep.equal({ greeting, seen: true });
    });
  }

  for (const [kind, exported] of [
    ['mjs', 'export default'],
    ['cjs', 'module.exports ='],
  ] as const) {
    it(`is taken up with the configuration when its file has changed, as .${kind}`, async () => {
      const name = `own.${kind}`;
      const greeting = (text: string) =>
        `${exported} { ...${STAGE}, create: () => (ctx) => { ctx.body = { greeting: '${text}' }; } };`;
      acme = await startOpenaiGateway(
        { yaml: endpointWith(`./${name}`) },
        { files: { [name]: greeting('Hi') } },
      );
      const heard: string[] = [];
      for (const [minute, text] of ['Hello', 'Good day', 'Good day'].entries()) {
        heard.push((await say('Hello!')).text);
        await writeFile(join(acme.folder, name), greeting(text));
        await utimes(join(acme.folder, name), 1_800_000_000, 1_800_000_000 + 60 * minute);
        acme.gateway.reload(await checkOrThrow(acme.file, {}));
      }
      heard.push((await say('Hello!')).text);
      expect(
        heard.map((text) => (JSON.parse(text) as { greeting: string }).greeting),
      ).to.deep.equal(['Hi', 'Hello', 'Good day', 'Good day']);
    });
  }

  it('can answer a request itself', async () => {
    const own = `export default { ...${STAGE}, create: (greeting) => (ctx) => { ctx.body = { greeting }; } };`;
    const yaml = endpointWith('"./own.mjs": Hi');
    acme = await startOpenaiGateway({ yaml }, { files: { 'own.mjs': own } });
    expect(JSON.parse((await say('Hello!')).text)).to.deep.equal({ greeting: 'Hi' });
    expect(acme.upstream.requests).to.deep.equal([]);
  });
});

describe('the loading of plugins', () => {
  let folder: string;

  /** The faults of a gateway.yaml with this stage and these files beside it, as `line:column code message`. */
  const faultsOf = async (stage: string, files: Record<string, string>): Promise<string[]> => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    const file = join(folder, 'gateway.yaml');
    await writeFile(
      file,
      `owners: { me: { name: Me } }
providers: { simulator: {} }
models: { sim: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free } }
${endpointWith(stage)}`,
    );
    const { faults } = await check(file, {});
    return faults.map(({ line, column, code, message }) => `${line}:${column} ${code} ${message}`);
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-plugin-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('finds an installed package, from the folder of gateway.yaml', async () => {
    const entry = { name: 'mask-pii', version: '1.0.0', main: 'index.mjs' };
    const files = {
      'node_modules/mask-pii/package.json': JSON.stringify(entry),
      'node_modules/mask-pii/index.mjs': `export default ${STAGE};`,
    };
    expect(await faultsOf('mask-pii', files)).to.deep.equal([]);
  });

  it('finds a module of the older kind', async () => {
    expect(await faultsOf('./old.cjs', { 'old.cjs': `module.exports = ${STAGE};` })).to.deep.equal(
      [],
    );
  });

  const broken: [string, string, string | undefined, RegExp][] = [
    ['there is none', './none.js', undefined, /there is no such file/u],
    ['it does not parse', './stage.mjs', 'export default {', /cannot be loaded: /u],
    ['it fails when loaded', './stage.mjs', 'throw new Error("no luck");', /no luck/u],
    ['it exports nothing', './stage.mjs', 'export const stage = 1;', /is not a stage/u],
    [
      'it exports a function',
      './stage.mjs',
      'export default (ctx, next) => next();',
      /is not a stage/u,
    ],
    [
      'it has no shape',
      './stage.mjs',
      'export default { name: "x", create() {} };',
      /is not a stage/u,
    ],
    [
      'its shape has no lists',
      './stage.mjs',
      'export default { name: "x", shape: {}, create() {} };',
      /must have the lists/u,
    ],
    [
      'it imports what is not there',
      './stage.mjs',
      `import 'nothing-of-this-name'; export default ${STAGE};`,
      /nothing-of-this-name/u,
    ],
    [
      'its shape throws',
      './stage.mjs',
      'export default { name: "x", shape() { throw new Error("no luck"); }, create() {} };',
      /no luck/u,
    ],
    [
      'it needs a fact that nobody knows',
      './stage.mjs',
      'export default { name: "x", shape: { needs: ["mood"], gives: [] }, create() {} };',
      /needs the fact "mood"/u,
    ],
  ];
  for (const [what, stage, text, says] of broken) {
    it(`reports a fault at its place when ${what}`, async () => {
      const faults = await faultsOf(stage, text === undefined ? {} : { 'stage.mjs': text });
      expect(faults[0])
        .to.match(/^5:\d+ (plugin|stage_option|missing_fact) /u)
        .and.match(says);
      expect(faults[0]).to.include(`"${stage}"`).and.not.include('\n');
      expect(faults).to.have.length(1);
    });
  }
});
