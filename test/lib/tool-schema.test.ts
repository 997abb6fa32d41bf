import { expect } from 'chai';
import fc from 'fast-check';
import {
  addPropertyNames,
  objectSchema,
  renameKeys,
  renameProperties,
} from '../../src/lib/tool-schema.js';

const text = { type: 'string' };
const folded = (schema: unknown): unknown => objectSchema(schema).schema;

describe('the schema of a tool', () => {
  it('stays as it is where it is that of one object', () => {
    const schema = { type: 'object', properties: { a: { anyOf: [text, { type: 'null' }] } } };
    expect(objectSchema(schema)).to.deep.equal({ schema, is_folded: false });
    expect(folded({ properties: { a: text } })).to.deep.equal({
      type: 'object',
      properties: { a: text },
    });
  });

  it('unites the branches of anyOf and oneOf, and requires what all of them require', () => {
    const branch = (name: string) => ({ properties: { kind: { const: name }, [name]: text } });
    for (const combiner of ['anyOf', 'oneOf']) {
      const schema = {
        type: 'object',
        properties: { id: text },
        required: ['id'],
        [combiner]: [
          { ...branch('one'), required: ['kind', 'one'] },
          { ...branch('two'), required: ['two', 'kind'] },
          { type: 'null' },
        ],
      };
      expect(folded(schema)).to.deep.equal({
        type: 'object',
        properties: {
          id: text,
          kind: { anyOf: [{ const: 'one' }, { const: 'two' }] },
          one: text,
          two: text,
        },
        required: ['id', 'kind'],
      });
    }
  });

  it('unites allOf with all that its parts require, and follows references', () => {
    const schema = {
      $defs: {
        base: { type: 'object', properties: { a: text }, required: ['a'] },
        more: { allOf: [{ $ref: '#/$defs/base' }, { properties: { b: text }, required: ['b'] }] },
      },
      $ref: '#/$defs/more',
    };
    expect(folded(schema)).to.deep.equal({
      $defs: schema.$defs,
      type: 'object',
      properties: { a: text, b: text },
      required: ['a', 'b'],
    });
  });

  it('is an empty object where the arguments are none, or a reference leads nowhere', () => {
    for (const schema of [{ type: 'string', enum: ['a'] }, { $ref: 'https://a.example/b' }]) {
      expect(folded(schema)).to.deep.equal({ type: 'object', properties: {} });
    }
  });

  it('is bounded where it refers to itself, or has more branches than anyone reads', () => {
    const loop = {
      type: 'object',
      anyOf: [{ $ref: '#' }, { $ref: '#' }, { properties: { a: text } }],
    };
    expect(folded(loop)).to.deep.equal({ type: 'object', properties: { a: text } });
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`p${at}`, text]));
    const branches = Array.from({ length: 50_000 }, () => ({ $ref: '#/$defs/wide' }));
    const { schema } = objectSchema({ $defs: { wide: { properties: wide } }, anyOf: branches });
    expect(Object.keys(schema.properties as object)).to.have.length(2_000);
  });

  it('has other names for its properties wherever they stand, and values as they were', () => {
    const schema = {
      properties: {
        'a b': { properties: { 'a b': text }, required: ['a b'] },
        c: { $ref: '#/properties/a b' },
      },
      required: ['a b', 'c'],
      default: { 'a b': 1 },
    };
    const names = new Set<string>();
    addPropertyNames(schema, names);
    expect([...names]).to.deep.equal(['a b', 'c']);
    expect(renameProperties(schema, (name) => name.replace(' ', '_'))).to.deep.equal({
      properties: {
        a_b: { properties: { a_b: text }, required: ['a_b'] },
        c: { $ref: '#/properties/a_b' },
      },
      required: ['a_b', 'c'],
      default: { 'a b': 1 },
    });
  });
});

describe('the keys of a JSON text', () => {
  it('are renamed, and numbers and texts keep what they are', () => {
    const json = String.raw`{"a b" : 12345678901234567890, "c": "\"a b\": \\", "d": [{"a\u0020b": "a b"}]}`;
    expect(renameKeys(json, (key) => (key === 'a b' ? 'x' : key))).to.equal(
      String.raw`{"x" : 12345678901234567890, "c": "\"a b\": \\", "d": [{"x": "a b"}]}`,
    );
  });

  it('are found in any JSON, and a text that breaks off stays as long as it is', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (json, end) => {
        const there = renameKeys(json, (key) => `<${key}>`);
        expect(renameKeys(there, (key) => key.slice(1, -1))).to.equal(
          JSON.stringify(JSON.parse(json)),
        );
        const cut = json.slice(0, end % (json.length + 1));
        expect(renameKeys(cut, (key) => key)).to.equal(cut);
      }),
    );
  });
});
