import { expect } from 'chai';
import { bodyOf, claudeAt, ignoredOf, thrownBy } from '../../helpers/claude.js';

const PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 2 } },
  required: ['city'],
};
const look = { type: 'function', function: { name: 'look', parameters: PARAMETERS } };
const withTools = (fields: object, model?: string): ReturnType<typeof bodyOf> =>
  bodyOf({ fields: { tools: [look], ...fields } }, claudeAt(model));

describe('tools for Claude', () => {
  it('are told with their schema, which is always one of an object', () => {
    const bare = { type: 'function', function: { name: 'now', description: 'The time.' } };
    const odd = { type: 'function', function: { name: 'odd', parameters: { properties: {} } } };
    expect(bodyOf({ fields: { tools: [look, bare, odd] } }).tools).to.deep.equal([
      { name: 'look', input_schema: PARAMETERS },
      {
        name: 'now',
        description: 'The time.',
        input_schema: { type: 'object', properties: {} },
      },
      { name: 'odd', input_schema: { type: 'object', properties: {} } },
    ]);
  });

  it('of one name were all sent with the text of the last, which was measured once', () => {
    const named = (description: string) => ({
      type: 'function',
      function: { name: 'look', description, parameters: PARAMETERS },
    });
    const original = {
      system: [],
      messages: [],
      tools: ['a', 'b'].map((description) => ({ name: 'look', description })),
      effort: undefined,
      betas: [],
    };
    const { tools } = bodyOf({ fields: { tools: [named('a'), named('b')] }, original });
    expect(tools?.map((tool) => tool.description)).to.deep.equal(['a', 'b']);
  });

  it("go out as they are where they are the upstream's own", () => {
    const own = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 };
    expect(bodyOf({ fields: { tools: [own] } }).tools).to.deep.equal([own]);
  });

  it('are strict where the model and the schema allow, and named where they do not', () => {
    const strict = { ...look, function: { ...look.function, strict: true } };
    const [tool] = bodyOf({ fields: { tools: [strict] } }).tools ?? [];
    expect(tool).to.deep.include({
      strict: true,
      input_schema: {
        type: 'object',
        properties: { city: { type: 'string', description: '{"minLength":2}' } },
        required: ['city'],
        additionalProperties: false,
      },
    });
    const older = claudeAt('claude-3-5-haiku-latest');
    expect(bodyOf({ fields: { tools: [strict] } }, older).tools).to.deep.equal([
      { name: 'look', input_schema: PARAMETERS },
    ]);
    expect(ignoredOf({ fields: { tools: [strict] } }, older)).to.deep.equal([
      'tools[].function.strict',
    ]);
  });

  const choices: [string, object, unknown][] = [
    ['auto', { tool_choice: 'auto' }, undefined],
    ['none', { tool_choice: 'none' }, { type: 'none' }],
    ['none, one at a time', { tool_choice: 'none', parallel_tool_calls: false }, { type: 'none' }],
    ['required', { tool_choice: 'required' }, { type: 'any' }],
    [
      'one function',
      { tool_choice: { type: 'function', function: { name: 'look' } } },
      { type: 'tool', name: 'look' },
    ],
    [
      'one at a time',
      { parallel_tool_calls: false },
      { type: 'auto', disable_parallel_tool_use: true },
    ],
    [
      'required, one at a time',
      { tool_choice: 'required', parallel_tool_calls: false },
      { type: 'any', disable_parallel_tool_use: true },
    ],
  ];
  for (const [what, fields, choice] of choices) {
    it(`are chosen from as the client says: ${what}`, () => {
      expect(withTools(fields).tool_choice).to.deep.equal(choice);
    });
  }

  it('are left to another upstream where a choice cannot be said to this one', () => {
    const odd = thrownBy(() => withTools({ tool_choice: { type: 'allowed_tools' } }));
    expect(odd).to.include({ fault: 'unsupported', param: 'tool_choice' });
    const forced = thrownBy(() => withTools({ tool_choice: 'required' }, 'claude-opus-5-5'));
    expect(forced).to.include({ fault: 'unsupported', param: 'tool_choice' });
  });

  it('have no choice where there are none', () => {
    const body = bodyOf({ fields: { tool_choice: 'auto', parallel_tool_calls: false, tools: [] } });
    expect(body).to.not.have.any.keys('tools', 'tool_choice');
  });

  it('are named again, not to be used, where a conversation holds calls of them alone', () => {
    const call = (id: string, name: string): object => ({
      id,
      type: 'function',
      function: { name, arguments: '{}' },
    });
    const body = bodyOf({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: null, tool_calls: [call('1', 'x'), call('2', 'x')] as never },
        { role: 'tool', tool_call_id: '1', content: 'r' },
        { role: 'tool', tool_call_id: '2', content: 'r' },
      ],
    });
    const input_schema = { type: 'object', properties: {} };
    expect(body.tools).to.deep.equal([{ name: 'x', input_schema }]);
    expect(body.tool_choice).to.deep.equal({ type: 'none' });
  });
});
