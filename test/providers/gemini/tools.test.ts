import { expect } from 'chai';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { encoded } from '../../helpers/gemini.js';

const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = { type: 'function', function: { name: 'weather', parameters: CITY } };
const clock = { type: 'function', function: { name: 'clock', description: 'The time.' } };

const sent = (fields: Record<string, unknown>) =>
  encoded({ fields: { tools: [weather, clock], ...fields } });
const config = (tool_choice: unknown) => sent({ tool_choice }).body.toolConfig;

describe('tools on the wire of Gemini', () => {
  it('are declared together, their schemas as JSON Schema, none where there are no parameters', () => {
    expect(sent({}).body.tools).to.deep.equal([
      {
        functionDeclarations: [
          { name: 'weather', parametersJsonSchema: CITY },
          { name: 'clock', description: 'The time.' },
        ],
      },
    ]);
  });

  it('leave out a schema of no properties', () => {
    const parameters = { type: 'object', properties: {}, additionalProperties: false };
    const tools = [{ type: 'function', function: { name: 'ping', parameters } }];
    const declared = sent({ tools }).body.tools;
    expect(declared).to.deep.equal([{ functionDeclarations: [{ name: 'ping' }] }]);
  });

  it('keep a schema whose properties stand elsewhere', () => {
    const parameters = { $ref: '#/$defs/a', $defs: { a: CITY } };
    const tools = [{ type: 'function', function: { name: 'ping', parameters } }];
    const functionDeclarations = [{ name: 'ping', parametersJsonSchema: parameters }];
    expect(sent({ tools }).body.tools).to.deep.equal([{ functionDeclarations }]);
  });

  it('beside JSON were a 400 of the models before Gemini 3, which are told in words now', () => {
    const json_schema = { name: 'answer', schema: CITY };
    const fields = { tools: [clock], response_format: { type: 'json_schema', json_schema } };
    const messages = [
      { role: 'system' as const, content: 'Be brief.' },
      { role: 'user' as const, content: 'Hi' },
    ];
    const old = encoded({ fields, messages }, { model: 'gemini-2.5-flash' }).body;
    expect(old.generationConfig).to.not.have.any.keys('responseMimeType', 'responseJsonSchema');
    const [own, added] = (old.systemInstruction as { parts: { text: string }[] }).parts;
    expect(own?.text).to.equal('Be brief.');
    expect(added?.text)
      .to.match(/^Answer with one JSON object/u)
      .and.include(JSON.stringify(CITY));
    const alone = encoded(
      { fields: { ...fields, tools: [] }, messages },
      { model: 'gemini-2.5-flash' },
    );
    const newer = encoded({ fields, messages }, { model: 'gemini-3-pro' });
    for (const { body } of [alone, newer]) {
      expect(body.generationConfig).to.deep.include({ responseMimeType: 'application/json' });
      expect((body.systemInstruction as { parts: object[] }).parts).to.have.length(1);
    }
  });

  it('are chosen by the four modes', () => {
    const mode = (value: string, names?: string[]) => ({
      functionCallingConfig: { mode: value, ...(names && { allowedFunctionNames: names }) },
    });
    expect(config(undefined)).to.equal(undefined);
    expect(config('auto')).to.deep.equal(mode('AUTO'));
    expect(config('none')).to.deep.equal(mode('NONE'));
    expect(config('required')).to.deep.equal(mode('ANY'));
    const named = { type: 'function', function: { name: 'clock' } };
    expect(config(named)).to.deep.equal(mode('ANY', ['clock']));
  });

  it('are allowed by name where a call is required, and else left out', () => {
    const allowed = (mode: string) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'clock' } }] },
    });
    expect(config(allowed('required'))).to.deep.equal({
      functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['clock'] },
    });
    const { tools, toolConfig } = sent({ tool_choice: allowed('auto') }).body;
    expect(toolConfig).to.deep.equal({ functionCallingConfig: { mode: 'AUTO' } });
    expect(tools).to.deep.equal([
      { functionDeclarations: [{ name: 'clock', description: 'The time.' }] },
    ]);
  });

  it('are not chosen by a word that no one knows', () => {
    expect(() => sent({ tool_choice: 'maybe' }))
      .to.throw(UpstreamError)
      .that.includes({ fault: 'unsupported', param: 'tool_choice' });
  });

  it("take the upstream's own beside functions, in its spelling", () => {
    const tools = [weather, { type: 'google_search' }, { type: 'url_context', url_context: {} }];
    expect(sent({ tools }).body.tools?.slice(1)).to.deep.equal([
      { googleSearch: {} },
      { urlContext: {} },
    ]);
  });

  it('name what the wire cannot say of them', () => {
    const strict = { ...weather, function: { ...weather.function, strict: true } };
    const { ignored } = sent({ tools: [strict], parallel_tool_calls: false });
    expect(ignored).to.have.members(['tools[].function.strict', 'parallel_tool_calls']);
    expect(sent({ parallel_tool_calls: true }).ignored).to.deep.equal([]);
  });

  it('are absent where none are offered', () => {
    expect(sent({ tools: [], tool_choice: 'auto' }).body).to.not.have.any.keys(
      'tools',
      'toolConfig',
    );
  });
});
