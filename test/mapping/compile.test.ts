import { expect } from 'chai';
import { made } from './helpers/template.js';

const BODY = {
  status: 'done',
  none: null,
  no: false,
  nothing: '',
  zero: 0,
  odd: { 'a key': 1, constructor: 'own' },
  files: [{ url: 'https://a' }, { url: 'ftp://b', bad: true }, { name: 'c' }],
  detail: [{ msg: 'one' }, { msg: 'two' }, { other: 3 }],
};

/** Templates and what they make of the body above; undefined is an absent value. */
const CASES: readonly [string, string, unknown][] = [
  ['takes text as it is', 'done', 'done'],
  ['takes numbers, true and null as they are', '[1, true, null]', [1, true, null]],
  ['takes a value by its path', '$.files[0].url', 'https://a'],
  ['takes the last of a list', '$.files[-1].name', 'c'],
  ['takes a key in quotes', `"$.odd['a key']"`, 1],
  ['takes a value by its name', '{ n: $call.n, model: $model }', { n: 2, model: 'a/b' }],
  ['finds own keys only', '[$.odd.constructor, $.constructor, $.files.length]', ['own']],
  ['leaves absent values out of blocks', '{ a: $.missing, b: { c: $.missing } }', { b: {} }],
  ['keeps null in blocks', '{ a: $.none }', { a: null }],
  ['takes the first that is neither absent nor null', '{ default: [$.x, $.none, $.zero] }', 0],
  ['has nothing where all are absent', '{ default: [$.x, $.y] }', undefined],
  ['takes constants', '{ const: { when: $.x } }', { when: '$.x' }],
  ['makes fields that are called like operators', '{ object: { map: $.zero } }', { map: 0 }],
  ['goes through a list', '{ each: $.detail, do: $.msg }', ['one', 'two']],
  ['goes through one value as a list of one', '{ each: $.status, do: { s: $ } }', [{ s: 'done' }]],
  ['goes through nothing', '{ each: $.missing, do: $ }', []],
  ['counts the items', '{ each: $.files, do: $index }', [0, 1, 2]],
  [
    'finds what belongs to an item',
    '{ each: $.detail, do: "$body.files[$index].url" }',
    ['https://a', 'ftp://b'],
  ],
  ['leaves items out', '{ each: $.files, where: { not: $.bad }, do: $.url }', ['https://a']],
  ['chooses by a condition', '{ when: $.status, then: 1, else: 2 }', 1],
  [
    'takes false, null, empty and absent as no',
    '{ when: { any: [$.no, $.none, $.nothing, $.x] }, then: 1, else: 2 }',
    2,
  ],
  ['takes zero as a value', '{ when: { all: [$.zero, $.odd] }, then: 1 }', 1],
  ['is absent without else', '{ when: $.no, then: 1 }', undefined],
  ['compares', '{ equals: [$.status, done] }', true],
  [
    'asks how text starts',
    '{ each: $.files, where: { starts: $.url, with: ["http:", "https:"] }, do: $.url }',
    ['https://a'],
  ],
  ['maps words', '{ map: { done: COMPLETED }, from: $.status }', 'COMPLETED'],
  ['has no word for others', '{ map: { constructor: 1 }, from: $.none }', undefined],
  ['has a word for all others', '{ map: { queued: 1 }, from: $.status, else: 2 }', 2],
  ['joins parts', '{ concat: [$.status, " ", $.zero, " ", $.no] }', 'done 0 false'],
  ['joins nothing where a part is absent', '{ concat: [a, $.missing] }', undefined],
  ['joins a list', '{ join: { each: $.detail, do: $.msg }, with: "; " }', 'one; two'],
  ['joins no list', '{ join: $.status, with: ", " }', 'done'],
  [
    'merges blocks, of which the later ones win',
    '{ merge: [{ a: 1, b: 1 }, { b: 2 }, $.missing, $.zero] }',
    { a: 1, b: 2 },
  ],
  [
    'finds the nearest ratio',
    '{ nearest_ratio: { width: 1920, height: 1088 }, of: ["1:1", "16:9"] }',
    '16:9',
  ],
  ['has no ratio without a size', '{ nearest_ratio: $.missing, of: ["1:1"] }', undefined],
  ['asks by JMESPath', '{ jmespath: "detail[?msg].msg | length(@)" }', 2],
  ['takes null of JMESPath as absent', '{ jmespath: "a.b" }', undefined],
];

describe('a template of a manifest', () => {
  for (const [what, template, expected] of CASES) {
    it(what, () => expect(made(template, BODY)).to.deep.equal(expected));
  }
});
