import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { fakeJson } from '../../../providers/simulator/fake-json.js';

const ajv = new Ajv2020({ strict: false });

const SCHEMAS: Record<string, object> = {
  'types and lists of types': {
    type: 'object',
    properties: {
      a: { type: ['null', 'string'] },
      b: { type: 'number' },
      c: { type: 'boolean' },
      d: { type: 'null' },
      e: { type: 'array', items: { type: 'integer' } },
    },
    required: ['a', 'b', 'c', 'd', 'e'],
    additionalProperties: false,
  },
  'a constant and an enumeration': { properties: { a: { const: { x: 1 } }, b: { enum: [3, 4] } } },
  'bounds of numbers': {
    type: 'array',
    prefixItems: [
      { type: 'integer', minimum: 2.5 },
      { type: 'integer', exclusiveMinimum: 3 },
      { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.1 },
      { type: 'number', maximum: -4 },
      { type: 'integer', exclusiveMaximum: 0 },
      { type: 'integer', minimum: 11, multipleOf: 5 },
      { type: 'number', exclusiveMinimum: 10, multipleOf: 5 },
    ],
    minItems: 7,
    items: false,
  },
  'bounds of texts': {
    properties: {
      short: { type: 'string', maxLength: 3 },
      long: { type: 'string', minLength: 30 },
    },
  },
  'bounds of lists': {
    properties: {
      few: { type: 'array', items: { type: 'string' }, minItems: 3, maxItems: 4 },
      none: { type: 'array', items: { type: 'string' }, maxItems: 0 },
    },
  },
  'references, alternatives and parts': {
    $defs: {
      name: { type: 'string', minLength: 9 },
      'a/b': { type: 'boolean' },
      base: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
    },
    type: 'object',
    properties: {
      name: { $ref: '#/$defs/name' },
      odd: { $ref: '#/$defs/a~1b' },
      one: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      all: {
        allOf: [
          { $ref: '#/$defs/base' },
          { type: 'object', properties: { x: { type: 'null' } }, required: ['x'] },
        ],
      },
    },
    required: ['name', 'odd', 'one', 'all'],
  },
  'a tree that need not end': {
    $defs: {
      node: {
        type: 'object',
        properties: {
          next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
          children: { type: 'array', items: { $ref: '#/$defs/node' } },
        },
        required: ['next', 'children'],
        additionalProperties: false,
      },
    },
    $ref: '#/$defs/node',
  },
  'a name that is no field': JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}',
  ) as object,
};

describe('a value that the simulator makes', () => {
  for (const [what, schema] of Object.entries(SCHEMAS)) {
    it(`fits ${what}, and is the same each time`, () => {
      const value = fakeJson(schema);
      const valid = ajv.compile(schema);
      const said = JSON.parse(JSON.stringify(value)) as unknown;
      expect(valid(said), `${JSON.stringify(value)}: ${ajv.errorsText(valid.errors)}`).to.equal(
        true,
      );
      expect(fakeJson(schema)).to.deep.equal(value);
    });
  }

  it('has the form of the texts that are asked for', () => {
    const formats = ['date-time', 'date', 'email', 'uuid', 'uri', 'odd'];
    const properties = Object.fromEntries(
      formats.map((format) => [format, { type: 'string', format }]),
    );
    expect(fakeJson({ properties })).to.deep.equal({
      'date-time': '2026-01-01T12:00:00Z',
      date: '2026-01-01',
      email: 'ada@example.com',
      uuid: '00000000-0000-4000-8000-000000000000',
      uri: 'https://example.com/',
      odd: 'example',
    });
  });

  it('ends, and stays small, whatever is demanded', () => {
    const HOSTILE: unknown[] = [
      {
        $defs: { a: { properties: { a: { $ref: '#/$defs/a' } }, required: ['a'] } },
        $ref: '#/$defs/a',
      },
      { $ref: '#' },
      { $ref: '#/$defs/none' },
      { anyOf: [{ $ref: '#' }] },
      { type: 'array', minItems: 1, items: { $ref: '#' } },
      { type: 'array', minItems: 9, items: { $ref: '#' } },
      { type: 'array', minItems: 1e15, items: { type: 'string', minLength: 1e15 } },
      null,
      'text',
    ];
    for (const schema of HOSTILE) {
      expect(JSON.stringify(fakeJson(schema)).length).to.be.below(3_000_000);
    }
  });
});
