import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';

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
  it('are there', () => {
    expect(files).to.include.members(['openai.yaml', 'simulator.yaml', 'vllm.yaml']);
  });

  for (const file of files) {
    const manifest = parse(read(file)) as Manifest;

    it(`${file} keeps to the schema`, () => {
      expect(validate(manifest), JSON.stringify(validate.errors)).to.equal(true);
    });

    it(`${file} is reached somehow, by codecs that exist`, () => {
      expect([manifest.base_url, manifest.in_process].filter(Boolean)).to.have.length(1);
      const codecs = Object.values(manifest.operations).flatMap(({ codec }) => codec ?? []);
      for (const module of [...codecs, manifest.in_process ?? 'openai']) {
        expect(existsSync(new URL(`${module}.ts`, folder)), module).to.equal(true);
      }
    });

    it(`${file} lets nothing through that costs more than is held, or that it drops`, () => {
      const { passthrough = [], drop = [] } = manifest;
      expect(passthrough).to.not.include.any.members([...COSTLY, ...drop]);
    });
  }
});
