import { createRequire } from 'node:module';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { BUILT_SCHEMAS, validatorOf } from '../../.ci/compile-validators.js';
import {
  VALIDATOR_OPTIONS,
  compileShipped,
  compilerOf,
  schemaMark,
  type Checked,
} from '../../src/lib/schemas.js';
import { packageRoot } from '../../src/lib/package-root.js';

const BROKEN: [Checked, name: string, unknown][] = [
  [
    'file',
    'gateway',
    { ownerz: 1, owners: { a: {} }, models: { 'a b': { price: 1 } }, limits: { body: '1' } },
  ],
  ['file', 'provider', { base_url: 4, operations: { chat: { paht: '' } }, drop: ['a', 'a'] }],
  ['file', 'prices', { openai: { models: { a: { input_per_million: -1 } } } }],
  ['body', 'chat-completion', { model: 'm', messages: [{ role: 'user', content: 1 }] }],
  ['body', 'openai-chat', { model: 'm', messages: [{ role: 'robot', content: 'Hi' }] }],
  ['body', 'stream-generate-content', { contents: 'Hi' }],
  ['form', 'openai-image-edit', { prompt: 'a hat', n: 'many' }],
  ['form', 'openai-video-list-query', { limit: 'all' }],
];

describe('the validators that the build makes', () => {
  let folder: string;
  before(async () => {
    // Beside the packages that a validator needs.
    folder = await mkdtemp(join(packageRoot, 'node_modules', '.validators-'));
  });
  after(() => rm(folder, { recursive: true }));

  for (const [checked, name, data] of BROKEN) {
    it(`tell what a new one tells, by the schema ${name}`, async () => {
      const file = join(folder, `${name}.cjs`);
      await writeFile(file, validatorOf(name, checked));
      const built = createRequire(file)(file) as ValidateFunction & { mark: string };
      const compiler = compilerOf(VALIDATOR_OPTIONS[checked]);
      const { validator: fresh, parts } = compileShipped(compiler, name, checked);
      expect(built(structuredClone(data))).to.equal(false);
      expect(fresh(structuredClone(data))).to.equal(false);
      expect(fresh.errors).not.to.have.length(0);
      expect(plain(built.errors)).to.deep.equal(plain(fresh.errors));
      expect(built.mark).to.equal(schemaMark(parts));
      expect(built.mark).not.to.equal(schemaMark([...parts, 'error']));
    });
  }

  it('are of each schema by which requests are checked', () => {
    expect(BUILT_SCHEMAS.body).to.include.members(['chat-completion', 'openai-video', 'speech']);
    expect(BUILT_SCHEMAS.form).to.include.members(['transcription', 'openai-video-list-query']);
  });
});

function plain(errors: ErrorObject[] | null | undefined): unknown {
  return JSON.parse(JSON.stringify(errors));
}
