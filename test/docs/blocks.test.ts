import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { check } from '../../src/gateway/check.js';
import { DOCUMENTS, type Block } from '../helpers/documents.js';
import { mergeYaml } from '../helpers/merge-yaml.js';

/** What the fragments of the pages lean on. */
const BASE = {
  owners: { tollgate: { name: 'Tollgate' }, openai: { name: 'OpenAI' } },
  providers: {
    simulator: {},
    openai: { api_key: '${OPENAI_API_KEY}' },
    lab: { uses: 'vllm', base_url: 'http://10.0.0.5:8000/v1' },
  },
  models: {
    'sim-chat': {
      owner: 'tollgate',
      capabilities: ['chat'],
      upstreams: [{ provider: 'simulator' }],
      price: 'free',
    },
  },
};

describe('the blocks of README and docs', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-blocks-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function put(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }

  /** The faults of the fragment, as a part of a whole file. */
  async function faultsOf(fragment: object): Promise<string[]> {
    await put('gateway.yaml', JSON.stringify(mergeYaml(BASE, fragment)));
    const { faults } = await check(join(folder, 'gateway.yaml'), undefined);
    return faults
      .filter(({ severity }) => severity === 'error')
      .map(({ message, hint }) => `${message} ${hint}`);
  }

  for (const { path, blocks } of DOCUMENTS) {
    const of = (language: string): Block[] => blocks.filter((block) => block.language === language);
    if (of('yaml').length > 0) {
      it(`of YAML in ${path} are valid`, async () => {
        for (const { info, text } of of('js')) if (info.includes('/')) await put(info, text);
        for (const { info, text } of of('yaml')) {
          const manifest = /^providers\/([\w-]+)\.yaml$/u.exec(info)?.[1];
          if (info !== '') await put(info, text);
          // A file to be included is checked with the block that includes it.
          if (info !== '' && manifest === undefined) continue;
          const fragment: unknown =
            manifest === undefined
              ? parse(text, { merge: true })
              : { providers: { [manifest]: { api_key: 'x' } } };
          expect(await faultsOf(fragment as object), text).to.deep.equal([]);
        }
      });
    }
    if (of('json').length > 0) {
      it(`of JSON in ${path} are JSON`, () => {
        for (const { text } of of('json')) expect(JSON.parse(text)).to.be.an('object');
      });
    }
    if (of('js').length > 0) {
      it(`of JavaScript in ${path} can be read by Node`, async () => {
        for (const { text } of of('js')) {
          await put('block.mjs', text);
          await promisify(execFile)(process.execPath, ['--check', join(folder, 'block.mjs')]);
        }
      });
    }
  }
});
