import { expect } from 'chai';
import { argumentsObject, customInput } from '../../src/lib/tool-arguments.js';

describe('the arguments of a tool call', () => {
  const cases: [string, object][] = [
    ['{"city":"Rome"}', { city: 'Rome' }],
    [' ', {}],
    ['[1]', { arguments: [1] }],
    ['null', { arguments: null }],
    ['{"city":"Ro', { arguments: '{"city":"Ro' }],
  ];
  for (const [text, args] of cases) {
    it(`are an object, whatever the model wrote: ${text}`, () => {
      expect(argumentsObject(text)).to.deep.equal(args);
    });
  }
});

describe('the input of a custom tool', () => {
  for (const [args, input] of [
    ['{"input":"ls"}', 'ls'],
    ['{"command":"ls"}', '{"command":"ls"}'],
    ['ls', 'ls'],
  ] as const) {
    it(`is found in ${args}`, () => {
      expect(customInput(args)).to.equal(input);
    });
  }
});
