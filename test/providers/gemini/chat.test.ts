import { expect } from 'chai';
import { encoded } from '../../helpers/gemini.js';

describe('a chat call to Gemini', () => {
  it('names its model in the path, and asks for events where it streams', () => {
    const path = (stream: boolean, model = 'gemini-x') => encoded({ stream }, { model }).path;
    expect(path(false)).to.equal('/models/gemini-x:generateContent');
    expect(path(true)).to.equal('/models/gemini-x:streamGenerateContent?alt=sse');
    expect(path(false, 'models/gemini-x')).to.equal('/models/gemini-x:generateContent');
  });

  it('names every field that it leaves out', () => {
    const fields = { user: 'u', logit_bias: { 5: 1 }, metadata: {}, temperature: 1 };
    const { body, ignored } = encoded({
      messages: [
        { role: 'user', name: 'Ann', content: 'Hi', cache_control: { type: 'ephemeral' } },
        {
          role: 'user',
          content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }],
        },
      ],
      fields,
    });
    expect(body).to.have.all.keys('contents', 'generationConfig');
    expect(ignored).to.have.members([
      'user',
      'logit_bias',
      'metadata',
      'messages[].name',
      'messages[].cache_control',
      'messages[].content[].cache_control',
    ]);
  });

  it('takes what its operator sets, in the words of chat and of the wire', () => {
    const safetySettings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }];
    const { body } = encoded(
      { max_tokens: 50, fields: { temperature: 1, seed: 3 } },
      {
        set: {
          temperature: 0.2,
          safetySettings,
          generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW', maxOutputTokens: 9_999 },
          contents: [],
        },
        drop: ['seed'],
      },
    );
    expect(body.safetySettings).to.deep.equal(safetySettings);
    expect(body.contents).to.have.length(1);
    expect(body.generationConfig).to.deep.equal({
      maxOutputTokens: 50,
      temperature: 0.2,
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
    });
  });

  it('offers no tools where a dropped tool_choice would have kept them back', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const fields = { tools, tool_choice: 'none' };
    expect(encoded({ fields }, { drop: ['tool_choice'] }).body).to.not.have.property('tools');
  });
});
