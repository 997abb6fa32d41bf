import { expect } from 'chai';
import { toolPriceName, usesOfTool } from '../../src/core/server-tools.js';

const NAMES: [type: string, name: string][] = [
  ['web_search', 'web_search'],
  ['web_search_20250305', 'web_search'],
  ['web_search_preview', 'web_search'],
  ['web_search_preview_2025_03_11', 'web_search'],
  ['openrouter:web_search', 'web_search'],
  ['google_search_retrieval', 'google_search'],
  ['google_maps', 'maps'],
  ['code_execution_20250825', 'code_execution'],
  ['x_search', 'x_search'],
];

describe('the name of the price of a tool', () => {
  for (const [type, name] of NAMES) {
    it(`is ${name} for ${type}`, () => expect(toolPriceName(type)).to.equal(name));
  }
});

describe('the calls of a tool that may run in an answer', () => {
  const USES: [max_uses: unknown, uses: number][] = [
    [undefined, 10],
    [3, 3],
    [0, 0],
    [99, 10],
    [-1_000_000, 10],
    [2.5, 10],
    ['3', 10],
  ];
  for (const [max_uses, uses] of USES) {
    it(`are ${uses} of 10 for ${String(max_uses)}`, () => {
      expect(usesOfTool({ max_uses }, 10)).to.equal(uses);
    });
  }
});
