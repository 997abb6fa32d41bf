import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { schemaWithWords } from '../../.ci/schema-words.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { builtInStages } from '../../src/stages/index.js';
import { keysOf, partsOf, readSchema, schemaFile, WRITTEN, type Schema } from './schema-keys.js';

const RULE = `
Each key of these schemas has, in its own block:
  "description": one or two sentences: what the key does, and why. It ends in "Default: X." where the
                 key has a default; any other key that may be left out says "Without it, …".
  "default":     where the code has one; test/editor/defaults.test.ts holds the two equal.
  "examples":    a list of values; blocks are "defaultSnippets", as an editor offers them whole.
  "patternErrorMessage": for a value with a type of its own, the end of "x is not …" in a fault.
`;

/** How a description says a default. */
function shown(value: unknown): string {
  if (Array.isArray(value) && value.length > 0) return value.join(', ');
  if (value === '' || typeof value === 'object') return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function complaintsOf(
  name: string,
  complain: (key: ReturnType<typeof keysOf>[number]) => string | undefined,
): string[] {
  return keysOf(readSchema(name)).flatMap((key) => {
    const complaint = complain(key);
    return complaint === undefined ? [] : [`schemas/${name}.schema.json: ${key.name} ${complaint}`];
  });
}

function expectNone(complaints: readonly string[]): void {
  expect(complaints, complaints.join('\n') + RULE).to.deep.equal([]);
}

for (const name of WRITTEN) {
  describe(`the ${name} schema, for people at an editor`, () => {
    it('has a description of every key, in sentences', () => {
      expect(keysOf(readSchema(name)).length).to.be.greaterThan(80);
      const complaints = complaintsOf(name, ({ schema: { description } }) => {
        if (typeof description !== 'string') return 'has no "description"';
        return /^[A-Z`'].{10,}\.$/u.test(description) ? undefined : 'is described by no sentence';
      });
      expectNone(complaints);
    });

    it('says of every key what holds without it', () => {
      const complaints = complaintsOf(name, ({ schema, required, is_option }) => {
        const description = String(schema.description);
        if (required || is_option) return undefined;
        if (!('default' in schema)) {
          return /\bWithout it, /u.test(description)
            ? undefined
            : 'has no "default", and its description does not say "Without it, …"';
        }
        const end = `${shown(schema.default)}.`;
        const [, said = ''] = description.split(' Default: ');
        const isSaid = said === end || said.endsWith(`, else ${end}`);
        return isSaid ? undefined : `has a description that does not end in "Default: ${end}"`;
      });
      expectNone(complaints);
    });

    it('has examples of every key', () => {
      const { $defs } = readSchema(name) as { $defs: Record<string, Schema> };
      const complaints = complaintsOf(name, ({ schema }) => {
        const { examples, defaultSnippets, $ref } = schema;
        const shared = $defs[String($ref).replace('#/$defs/', '')]?.defaultSnippets;
        return [examples, defaultSnippets, shared].some((one) => one !== undefined)
          ? undefined
          : 'has neither "examples" nor "defaultSnippets"';
      });
      expectNone(complaints);
    });

    it('has examples and defaults that are valid', () => {
      const ajv = new Ajv2020({
        allowUnionTypes: true,
        keywords: ['patternErrorMessage', 'enumDescriptions', 'defaultSnippets', 'x-type'],
      });
      ajv.addSchema(readSchema(name), 'whole');
      const complaints = complaintsOf(name, ({ schema, pointer }) => {
        const check = ajv.compile({ $ref: `whole${pointer}` });
        const { examples = [], defaultSnippets = [], default: standard } = schema;
        const blocks = (defaultSnippets as { body: unknown }[]).map(({ body }) => body);
        const values = [...(examples as unknown[]), ...blocks];
        if (standard !== undefined) values.push(standard);
        const bad = values.filter((value) => !check(value));
        return bad.length === 0 ? undefined : `has a bad example: ${JSON.stringify(bad)}`;
      });
      expectNone(complaints);
    });

    it('describes what stands in lists and in blocks of names', () => {
      const whole = readSchema(name);
      const described = (part: Schema): boolean => {
        const target = String(part.$ref).replace('#/$defs/', '');
        const shared = (whole.$defs as Record<string, Schema>)[target];
        return typeof (part.description ?? shared?.description) === 'string';
      };
      const bare = [...partsOf(whole)].filter(
        ([pointer, part]) =>
          /\/(items|additionalProperties|patternProperties\/[^/]+|\$defs\/[^/]+)$/u.test(pointer) &&
          !described(part),
      );
      expectNone(bare.map(([pointer]) => `schemas/${name}.schema.json${pointer} is not described`));
    });

    it('refers to nothing outside its own file', () => {
      const text = readFileSync(schemaFile(name), 'utf8');
      const references = [...text.matchAll(/"\$ref": "([^"]*)"/gu)].map(([, to = '']) => to);
      expect(references.length).to.be.greaterThan(10);
      expect(references.filter((to) => !to.startsWith('#/$defs/'))).to.deep.equal([]);
      expect(readSchema(name).$id).to.equal(name);
    });
  });
}

describe('the words that editors complete', () => {
  it('are those of the code and of providers/ (else: npm run types)', async () => {
    const text = readFileSync(schemaFile('gateway'), 'utf8');
    expect(await schemaWithWords(text)).to.equal(text);
  });

  it('name every stage, each with its sentence', () => {
    const { $defs } = readSchema('gateway') as { $defs: { stage: { anyOf: Schema[] } } };
    const named = $defs.stage.anyOf.flatMap(({ const: name, properties = {}, description }) => {
      if (typeof name !== 'string') return Object.keys(properties as object);
      expect(description, name).to.match(/\.$/u);
      return [name];
    });
    const stages = [...builtInStages(MODALITIES).keys()];
    expect([...new Set(named)].sort()).to.deep.equal(stages.sort());
  });

  it('say of every capability what it is', () => {
    const { $defs } = readSchema('gateway') as {
      $defs: { capability: { enum: string[]; enumDescriptions: string[] } };
    };
    const { enum: words, enumDescriptions: said } = $defs.capability;
    expect(said.length).to.equal(words.length);
    const all = [...MODALITIES.values()].flatMap((one) => [
      one.name,
      ...one.configuration.refinements,
    ]);
    expect([...words].sort()).to.deep.equal([...all].sort());
  });
});
