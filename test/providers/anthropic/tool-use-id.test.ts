import { expect } from 'chai';
import { toolUseId } from '../../../providers/anthropic/tool-use-id.js';

describe('the ids of tool calls for Claude', () => {
  it('stay where Claude takes them, without a signature of another upstream', () => {
    expect(toolUseId('toolu_01-A')).to.equal('toolu_01-A');
    expect(toolUseId('call_1~ts~c2ln')).to.equal('call_1');
  });

  it('are replaced where it does not, the same id always by the same one', () => {
    for (const id of ['functions.look:0', 'ünï', '', 'x'.repeat(65)]) {
      expect(toolUseId(id)).to.match(/^[a-zA-Z0-9_-]{1,64}$/u);
      expect(toolUseId(id)).to.equal(toolUseId(id));
    }
  });

  it('stay different where they differ in a replaced character alone, or past the 64th', () => {
    expect(toolUseId('a.b')).to.not.equal(toolUseId('a:b'));
    expect(toolUseId(`${'x'.repeat(80)}1`)).to.not.equal(toolUseId(`${'x'.repeat(80)}2`));
  });
});
