import { expect } from 'chai';
import { matchModel } from '../../src/reconcile/match-model.js';

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const ARN = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/';

/** A name in an export, the upstream models, and the one that is meant. */
const MATCHES: readonly (readonly [string, readonly string[], string])[] = [
  ['gpt-4o', ['gpt-4o', 'gpt-4o-2024-08-06'], 'gpt-4o'],
  ['gpt-4o-2024-08-06', ['gpt-4o', 'gpt-4o-mini'], 'gpt-4o'],
  ['GPT-4o', ['gpt-4o'], 'gpt-4o'],
  ['gpt-4-0613', ['gpt-4', 'gpt-4o'], 'gpt-4'],
  ['claude-haiku-4-5', ['claude-haiku-4-5@20251001'], 'claude-haiku-4-5@20251001'],
  ['claude-3-7-sonnet-20250219', ['claude-3-7-sonnet-latest'], 'claude-3-7-sonnet-latest'],
  ['gemini-2.0-flash', ['models/gemini-2.0-flash-001'], 'models/gemini-2.0-flash-001'],
  ['anthropic.claude-sonnet-4-5-20250929-v1:0', [CLAUDE], CLAUDE],
  [`${ARN}eu.anthropic.claude-sonnet-4-5-20250929-v1:0`, [CLAUDE], CLAUDE],
  ['Claude4.5Sonnet', [CLAUDE, 'anthropic.claude-opus-4-5-20251101-v1:0'], CLAUDE],
  ['Claude Sonnet 4.5', [CLAUDE], CLAUDE],
  ['NovaLite', ['amazon.nova-lite-v1:0', 'amazon.nova-pro-v1:0'], 'amazon.nova-lite-v1:0'],
  ['deepseek/deepseek-chat:free', ['deepseek/deepseek-chat'], 'deepseek/deepseek-chat'],
  [
    'Gemini 2.5 Flash GA Text Input - Predictions',
    ['gemini-2.5-flash', 'gemini-2.5-flash-lite'],
    'gemini-2.5-flash',
  ],
  [
    'Gemini 2.5 Flash Lite GA Text Output - Predictions',
    ['gemini-2.5-flash', 'gemini-2.5-flash-lite'],
    'gemini-2.5-flash-lite',
  ],
  [
    'Generate content input token count gemini 2.5 flash short input text',
    ['gemini-2.5-flash', 'gemini-2.5-pro'],
    'gemini-2.5-flash',
  ],
  ['Gemini 2.5 Flash Image Input Caching', ['gemini-2.5-flash'], 'gemini-2.5-flash'],
];

describe('the upstream model that an export means', () => {
  for (const [name, models, model] of MATCHES) {
    it(`of ${name} is ${model}`, () => {
      expect(matchModel(name, models)).to.deep.equal({ model });
    });
  }

  it('is none where two fit equally well, and both are named', () => {
    const snapshots = ['gpt-4o-2024-05-13', 'gpt-4o-2024-08-06'];
    expect(matchModel('gpt-4o', snapshots)).to.deep.equal({ several: snapshots });
    const twice = ['models/gemini-2.5-pro', 'gemini-2.5-pro-001'];
    expect(matchModel('Gemini 2.5 Pro Text Input', twice)).to.deep.equal({ several: twice });
  });

  it('is none of another size, or of another kind', () => {
    expect(matchModel('gpt-4o-mini', ['gpt-4o'])).to.deep.equal({});
    expect(matchModel('Gemini 2.5 Flash Lite Text Input', ['gemini-2.5-flash'])).to.deep.equal({});
    expect(matchModel('Gemini 2.5 Flash Image Generation', ['gemini-2.5-flash'])).to.deep.equal({});
    expect(matchModel('web search tool calls', ['gpt-4o', 'o3'])).to.deep.equal({});
  });
});
