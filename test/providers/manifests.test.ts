import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { providerTable, tableIn } from '../../.ci/provider-table.js';
import { load } from '../../src/config/load.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { format } from '../../src/yaml/format.js';

interface Manifest {
  base_url?: string;
  in_process?: string;
  operations: Record<string, { codec?: string }>;
  passthrough?: string[];
  drop?: string[];
}

/** Fields that make an answer dearer than its hold: other tiers, searches, more or other output. */
const COSTLY = [
  'n',
  'max_tokens',
  'max_completion_tokens',
  'service_tier',
  'web_search_options',
  'prediction',
  'modalities',
  'audio',
  'models',
  'plugins',
];

const folder = new URL('../../providers/', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, folder), 'utf8');
const validate = new Ajv2020({ strict: false }).compile(
  JSON.parse(read('../schemas/provider.schema.json')) as object,
);
const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));

describe('the manifests', () => {
  let home = '';
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'tollgate-manifests-'));
  });
  after(() => rm(home, { recursive: true }));

  it('are found', () => {
    expect(files).to.include.members(['openai.yaml', 'simulator.yaml', 'vllm.yaml']);
  });

  for (const file of files) {
    const manifest = parse(read(file)) as Manifest;

    it(`keep to the schema in ${file}`, () => {
      expect(validate(manifest), JSON.stringify(validate.errors)).to.equal(true);
    });

    it(`name an address and codecs that exist in ${file}`, () => {
      // The general manifest is for servers whose address only the operator knows.
      const known = file === 'openai-compatible.yaml' ? 0 : 1;
      expect([manifest.base_url, manifest.in_process].filter(Boolean)).to.have.length(known);
      const codecs = Object.values(manifest.operations).flatMap(({ codec }) => codec ?? []);
      for (const module of [...codecs, manifest.in_process ?? 'openai']) {
        expect(existsSync(new URL(`${module}.ts`, folder)), module).to.equal(true);
      }
    });

    it(`have no fault in ${file} when a provider uses it`, async () => {
      const entry = {
        uses: file.replace('.yaml', ''),
        ...(manifest.in_process ? {} : { api_key: 'x' }),
        ...Object.fromEntries(
          [...(manifest.base_url ?? '').matchAll(/\{(\w+)\}/gu)].map(([, part]) => [part, 'acme']),
        ),
        ...(file === 'openai-compatible.yaml' && { base_url: 'http://127.0.0.1:9/v1' }),
      };
      const gateway = { owners: {}, providers: { one: entry }, models: {} };
      await writeFile(`${home}/gateway.yaml`, JSON.stringify(gateway));
      const { faults } = await load(`${home}/gateway.yaml`, {}, MODALITIES);
      const errors = faults.filter(({ severity }) => severity === 'error');
      expect(errors, format(errors, 'text')).to.deep.equal([]);
    });

    it(`let nothing through in ${file} that costs more than is held, or that it drops`, () => {
      const { passthrough = [], drop = [] } = manifest;
      expect(passthrough).to.not.include.any.members([...COSTLY, ...drop]);
    });
  }

  it('are the rows of the table in docs/providers.md, which `npm run providers` writes', async () => {
    expect(tableIn(read('../docs/providers.md'))).to.equal(await providerTable());
  });

  it('of the compatible family are at least 25', () => {
    const family = files.filter(
      (file) => (parse(read(file)) as Manifest).operations.chat?.codec === 'openai',
    );
    expect(family).to.have.length.of.at.least(25);
  });
});
