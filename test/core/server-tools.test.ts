import { expect } from 'chai';
import { toolPriceName } from '../../src/core/server-tools.js';

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
