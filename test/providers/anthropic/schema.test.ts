import { expect } from 'chai';
import { strictSchema } from '../../../providers/anthropic/schema.js';

const object = (properties: object, more: object = {}): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

describe('schemas that the Messages API holds an answer to', () => {
  it('stay as they are where the API understands all of them', () => {
    const schema = object({
      city: { type: 'string', format: 'date', description: 'x' },
      kind: { enum: ['a', 'b'] },
      list: { type: 'array', items: { type: 'integer' }, minItems: 1 },
      either: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/part' }] },
    });
    const whole = { ...schema, $defs: { part: object({ x: { type: 'number' } }) } };
    expect(strictSchema(whole)).to.deep.equal(whole);
  });

  it('are closed, and tell the model what the API does not understand', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        age: { type: 'integer', minimum: 0, description: 'In years.' },
        name: { type: 'string', format: 'card-name' },
        one: { oneOf: [{ type: 'string' }, { type: 'object', properties: { x: {} } }] },
      },
      required: ['age', 'name', 'one'],
    };
    expect(strictSchema(schema)).to.deep.equal({
      type: 'object',
      properties: {
        age: { type: 'integer', description: 'In years.\n{"minimum":0}' },
        name: { type: 'string', description: '{"format":"card-name"}' },
        one: {
          anyOf: [
            { type: 'string' },
            { type: 'object', properties: { x: {} }, additionalProperties: false },
          ],
        },
      },
      required: ['age', 'name', 'one'],
      additionalProperties: false,
    });
  });

  const many = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`p${at}`, {}]));
  const refused: [string, unknown][] = [
    ['no schema', undefined],
    ['an object of any names', { type: 'object' }],
    ['a map', object({ map: { type: 'object', additionalProperties: { type: 'string' } } })],
    ['patterns of names', object({}, { patternProperties: { '^x': {} } })],
    ['a schema that contains itself', object({ next: { $ref: '#' } })],
    [
      'definitions that contain each other',
      {
        ...object({ a: { $ref: '#/$defs/a' } }),
        $defs: { a: object({ b: { $ref: '#/$defs/b' } }), b: object({ a: { $ref: '#/$defs/a' } }) },
      },
    ],
    ['more optional properties than the API takes', object(many, { required: [] })],
  ];
  for (const [what, schema] of refused) {
    it(`are not made from ${what}`, () => {
      expect(strictSchema(schema)).to.equal(undefined);
    });
  }

  it('are not made from parts nested, or referred to, without end', () => {
    const $defs: Record<string, unknown> = { d0: { type: 'string' } };
    for (let at = 1; at <= 50_000; at += 1) $defs[`d${at}`] = { $ref: `#/$defs/d${at - 1}` };
    const chain = { ...object({ top: { $ref: '#/$defs/d50000' } }), $defs };
    expect(strictSchema(chain)).to.equal(undefined);
  });

  it('are read in a moment even where each part is referred to twice, level upon level', () => {
    const $defs: Record<string, unknown> = { d0: { type: 'string' } };
    for (let at = 1; at <= 60; at += 1) {
      const $ref = `#/$defs/d${at - 1}`;
      $defs[`d${at}`] = object({ left: { $ref }, right: { $ref } });
    }
    expect(strictSchema({ ...object({ top: { $ref: '#/$defs/d60' } }), $defs })).to.be.an('object');
  });
});
