import { expect } from 'chai';
import { chat } from '../../../providers/anthropic.js';
import { bodyOf, callOf, claudeAt } from '../../helpers/claude.js';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const response_format = { type: 'json_schema', json_schema: { name: 'place', schema } };
const open = { type: 'object', additionalProperties: { type: 'number' } };
const asked = (more: object): { fields: Record<string, unknown> } => ({
  fields: { response_format, ...more },
});
const older = claudeAt('claude-3-5-haiku-latest');

describe('structured output of Claude', () => {
  it('is held to the schema by the API itself where the model can', () => {
    expect(bodyOf(asked({})).output_config).to.deep.equal({
      format: { type: 'json_schema', schema },
    });
    expect(bodyOf(asked({}))).to.not.have.any.keys('tools', 'system');
  });

  it('is the input of a tool that the model must call where it cannot', () => {
    const body = bodyOf(asked({}), older);
    expect(body.tools).to.deep.equal([
      { name: 'place', description: 'Gives the answer.', input_schema: schema },
    ]);
    expect(body.tool_choice).to.deep.equal({
      type: 'tool',
      name: 'place',
      disable_parallel_tool_use: true,
    });
    expect(body).to.not.have.property('output_config');
  });

  it('is the input of a tool where a cloud serves Claude without schemas', () => {
    const body = bodyOf(asked({}), claudeAt(undefined, {}, { schemas: false }));
    expect(body.tools).to.have.length(1);
    expect(body).to.not.have.property('output_config');
  });

  it('is asked for in words beside tools of the client, and where any object will do', () => {
    const tools = [{ type: 'function', function: { name: 'look' } }];
    const beside = bodyOf(asked({ tools }), older);
    expect(beside.tools).to.have.length(1);
    expect(beside).to.not.have.property('tool_choice');
    expect(beside.system?.at(-1)?.text).to.include(JSON.stringify(schema));
    const messages = [
      { role: 'system', content: 'Be brief.' } as const,
      { role: 'user', content: 'Hi' } as const,
    ];
    const any = bodyOf({ messages, fields: { response_format: { type: 'json_object' } } });
    expect(any.system?.map(({ text }) => text)).to.deep.equal([
      'Be brief.',
      'Answer with one JSON object and nothing else: no Markdown, no text around it.',
    ]);
  });

  it('goes by a tool where the schema is more than the API can hold to', () => {
    const json_schema = { name: 'a b', schema: open };
    const body = bodyOf(asked({ response_format: { type: 'json_schema', json_schema } }));
    expect(body.tools).to.deep.equal([
      { name: 'a_b_c8687a08', description: 'Gives the answer.', input_schema: open },
    ]);
  });

  it('is plain text where plain text is asked for', () => {
    const body = bodyOf(asked({ response_format: { type: 'text' } }));
    expect(body).to.not.have.any.keys('output_config', 'tools', 'system');
  });

  it('comes out as the text of the answer where it is the input of the tool', () => {
    const call = callOf(asked({}));
    const input = { city: 'Oslo' };
    const content = [{ type: 'tool_use', id: 'toolu_1', name: 'place', input }];
    const body = { type: 'message', content, stop_reason: 'tool_use' };
    const [choice] = chat.decode(body, call, older).choices;
    expect(choice).to.deep.include({ content: '{"city":"Oslo"}', finish_reason: 'tool_use' });
    expect(choice).to.not.have.property('tool_calls');
    expect(chat.decode(body, callOf(), older).choices[0]).to.have.property('tool_calls');
  });
});
