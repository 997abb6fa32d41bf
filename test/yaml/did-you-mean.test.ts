import { expect } from 'chai';
import { nameHint, nearestVariable, nearestWord } from '../../src/yaml/did-you-mean.js';

const WORDS = ['owner', 'capabilities', 'upstreams', 'limits', 'api_key', 'input_per_million'];

describe('nearestWord', () => {
  const pairs: [string, string | undefined][] = [
    ['ownr', 'owner'],
    ['onwer', 'owner'],
    ['owners', 'owner'],
    ['capabilites', 'capabilities'],
    ['apiKey', 'api_key'],
    ['API-KEY', 'api_key'],
    ['upstream', 'upstreams'],
    ['input', 'input_per_million'],
    ['limit', 'limits'],
    ['key', 'api_key'],
    ['maxUpstreams', 'upstreams'],
    ['input_per_token', 'input_per_million'],
    ['colour', undefined],
    ['x', undefined],
    ['', undefined],
    ['o'.repeat(100), undefined],
  ];
  for (const [wrong, right] of pairs) {
    it(`finds ${right ?? 'nothing'} for ${wrong.slice(0, 12)}`, () => {
      expect(nearestWord(wrong, WORDS)).to.equal(right);
    });
  }

  it('prefers the word with fewer slips', () => {
    expect(nearestWord('chats', ['chart', 'chat', 'cats'])).to.equal('chat');
  });

  it('does not take short words for each other', () => {
    expect(nearestWord('ab', ['xy'])).to.equal(undefined);
    expect(nearestWord('a', ['b'])).to.equal(undefined);
  });
});

describe('nameHint', () => {
  it('suggests the nearest name, else lists all names', () => {
    expect(nameHint('acne', ['acme'])).to.equal('did you mean "acme"?');
    expect(nameHint('zzz', ['acme', 'beta'])).to.equal('known: acme, beta');
    expect(nameHint('zzz', [])).to.equal('none is defined');
  });
});

describe('nearestVariable', () => {
  const SET = ['GEMINI_API_KEY', 'ZAI_API_KEY', 'OPENAI_API_KEY', 'BASE_URL', 'DB_PASSWORD'];

  it('names no variable of another provider', () => {
    for (const name of ['ANTHROPIC_API_KEY', 'XAI_API_KEY', 'XAI_APIKEY', 'API_KEY', 'APIKEY']) {
      expect(nearestVariable(name, SET), name).to.equal(undefined);
    }
  });

  it('finds a misspelt variable, and one with other words around its owner', () => {
    for (const [name, right] of [
      ['OPENAI_KEY', 'OPENAI_API_KEY'],
      ['OPEANI_API_KEY', 'OPENAI_API_KEY'],
      ['BASE_ULR', 'BASE_URL'],
      ['DB_PASWORD', 'DB_PASSWORD'],
      ['GEMINI_APIKEY', 'GEMINI_API_KEY'],
      ['GEMINIAPI_KEY', 'GEMINI_API_KEY'],
      ['OPNAI_API_KEYS', 'OPENAI_API_KEY'],
    ] as const) {
      expect(nearestVariable(name, SET), name).to.equal(right);
    }
  });
});
