import { expect } from 'chai';
import { claudeModel } from '../../../providers/anthropic/models.js';

describe('the table of Claude models', () => {
  const thinking = [
    ['claude-2.1', 'none'],
    ['claude-instant-1.2', 'none'],
    ['claude-3-haiku-20240307', 'none'],
    ['claude-3-5-sonnet-20241022', 'none'],
    ['claude-3-7-sonnet-latest', 'budget'],
    ['claude-sonnet-4-20250514', 'budget'],
    ['claude-opus-4-1-20250805', 'budget'],
    ['claude-haiku-4-5', 'budget'],
    ['claude-opus-4-6', 'budget-or-adaptive'],
    ['claude-opus-4-7', 'adaptive'],
    ['claude-sonnet-5', 'adaptive'],
    ['claude-fable-5-1', 'adaptive'],
    ['claude-tomorrow', 'adaptive'],
    ['another-makers-model', 'budget'],
  ];
  for (const [name = '', how] of thinking) {
    it(`knows how ${name} is asked to think: ${how}`, () => {
      expect(claudeModel(name).thinking).to.equal(how);
    });
  }

  it('knows a model by its name on Bedrock and on Vertex AI too', () => {
    const own = claudeModel('claude-sonnet-4-5-20250929');
    expect(claudeModel('claude-sonnet-4-5@20250929')).to.deep.equal(own);
    expect(claudeModel('us.anthropic.claude-sonnet-4-5-20250929-v1:0')).to.deep.equal(own);
    expect(claudeModel('anthropic/claude-sonnet-4.5')).to.deep.equal(own);
  });

  it('takes a date for no minor version', () => {
    expect(claudeModel('claude-opus-4-20250514').max_output).to.equal(32_000);
    expect(claudeModel('claude-opus-4@20250514').schemas).to.equal(false);
  });

  it('takes an unknown Claude for a new one, which refuses sampling parameters', () => {
    expect(claudeModel('claude-tomorrow')).to.include({ sampling: false, prefill: false });
    expect(claudeModel('another-makers-model')).to.include({ sampling: true, schemas: false });
  });

  it('knows which models cannot be made to call a tool', () => {
    const forced = (name: string): boolean => claudeModel(name).forced_tools;
    expect(['claude-opus-5', 'claude-fable-5', 'claude-haiku-5-5'].every(forced)).to.equal(true);
    expect(['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-fable-5-1'].some(forced)).to.equal(
      false,
    );
  });
});
