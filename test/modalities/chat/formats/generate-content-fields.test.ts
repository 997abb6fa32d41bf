import { expect } from 'chai';
import { ask, type Answer } from '../../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { chatJson, startUpstream, type FakeUpstream } from '../../../helpers/upstream.js';

type Body = Record<string, unknown>;

/**
 * What becomes of a field: `as` names what the upstream gets for it, `ignored` is the name in the
 * header, and `refused` a part of the message.
 */
interface Row {
  field: string;
  body: Body;
  as?: Body;
  ignored?: string;
  refused?: string;
  /** In place of the model that lists every field. */
  model?: string;
}

/** What the model `all` passes on. */
const ALL = 'top_k, seed, logprobs, top_logprobs, reasoning, reasoning_content, safetySettings';
const HELLO = [{ role: 'user', parts: [{ text: 'Hello!' }] }];
const PNG = 'iVBORw0KGgo=';
const PDF = 'JVBERi0xLjQK';

/** A body of less than 64 kB may be nested as deep as this and more. */
const DEEP = JSON.parse('{"a":'.repeat(300) + '1' + '}'.repeat(300)) as object;

const config = (name: string, value: unknown): Body => ({ generationConfig: { [name]: value } });
const parts = (...said: object[]): Body => ({ contents: [{ role: 'user', parts: said }] });
const turn = (...said: object[]): Body => ({
  contents: [
    ...HELLO,
    { role: 'model', parts: said },
    { role: 'user', parts: [{ text: 'Go on.' }] },
  ],
});
const user = (content: unknown): Body => ({ messages: [{ role: 'user', content }] });
const declared = (more: object = {}): Body => ({
  tools: [{ functionDeclarations: [{ name: 'sky', ...more }, { name: 'sea' }] }],
});
const said = (name: string, more: object = {}): object => ({
  type: 'function',
  function: { name, ...more },
});
const choosing = (mode: string, names?: string[]): Body => ({
  ...declared(),
  toolConfig: { functionCallingConfig: { mode, ...(names && { allowedFunctionNames: names }) } },
});
const CALL = { functionCall: { id: 'c1', name: 'sky', args: { at: 'Oslo' } } };
const RESULT = { id: 'c1', name: 'sky', response: { is: 'grey' } };
const asked = (call: object, result: object): Body => ({
  contents: [
    ...HELLO,
    { role: 'model', parts: [call] },
    { role: 'user', parts: [{ functionResponse: result }] },
  ],
});
const spoken = (...after: object[]): Body => ({
  messages: [{ role: 'user', content: 'Hello!' }, ...after],
});
const called = (id: string): object => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'sky', arguments: '{"at":"Oslo"}' } }],
});
const answered = (id: string, content: unknown = '{"is":"grey"}'): object => ({
  role: 'tool',
  tool_call_id: id,
  content,
});
const image = (url: string): object => ({ type: 'image_url', image_url: { url } });
const SCHEMA = { type: 'object', properties: { type: { type: ['string', 'null'] } } };
const OLD_SCHEMA = {
  type: 'OBJECT',
  properties: { type: { type: 'STRING', nullable: true } },
  propertyOrdering: ['type'],
};
const json = (schema: object): Body => ({
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
});

const CONTENTS: Row[] = [
  {
    field: 'contents[].parts[].text',
    body: parts({ text: 'Hi' }, { text: 'you' }),
    as: user('Hi\nyou'),
  },
  {
    field: 'contents, contents.parts (single)',
    body: { contents: { parts: { text: 'Hi' } } },
    as: user('Hi'),
  },
  {
    field: 'contents[].role (model)',
    body: turn({ text: 'Good' }, { text: ' day' }),
    as: spoken({ role: 'assistant', content: 'Good day' }, { role: 'user', content: 'Go on.' }),
  },
  {
    field: 'contents[].role (assistant)',
    body: { contents: [{ role: 'assistant', parts: [] }] },
    refused: 'contents[0].role must be one of user, model, function',
  },
  {
    field: 'contents (nothing said)',
    body: { contents: [{ role: 'model' }] },
    refused: 'contents must not be empty',
  },
  {
    field: 'contents[].parts[].thought',
    model: 'replaying',
    body: turn({ text: 'Hm', thought: true }, { text: 'Hi' }),
    as: spoken(
      { role: 'assistant', content: 'Hi', reasoning_content: 'Hm' },
      { role: 'user', content: 'Go on.' },
    ),
  },
  {
    field: 'contents[].parts[].inlineData (image)',
    body: parts({ inlineData: { mimeType: 'image/png', data: PNG } }),
    as: user([image(`data:image/png;base64,${PNG}`)]),
  },
  {
    field: 'contents[].parts[].inline_data',
    body: parts({ inline_data: { mime_type: 'image/png', data: 'a-_b' } }),
    as: user([image('data:image/png;base64,a+/b')]),
  },
  {
    field: 'contents[].parts[].inlineData (audio)',
    body: parts({ inlineData: { mimeType: 'audio/x-wav', data: 'UklG' } }),
    as: user([{ type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } }]),
  },
  {
    field: 'contents[].parts[].inlineData (PDF)',
    body: parts({ inlineData: { mimeType: 'application/pdf', data: PDF, displayName: 'a.pdf' } }),
    as: user([
      {
        type: 'file',
        file: { file_data: `data:application/pdf;base64,${PDF}`, filename: 'a.pdf' },
      },
    ]),
  },
  {
    field: 'contents[].parts[].inlineData (no vision)',
    model: 'plain',
    body: parts({ inlineData: { mimeType: 'image/png', data: PNG } }),
    refused: 'this model does not take images',
  },
  {
    field: 'contents[].parts[].fileData',
    body: parts({ fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } }),
    as: user([image('https://example.com/a.png')]),
  },
  {
    field: 'contents[].parts[].fileData (gs:)',
    body: parts({ fileData: { mimeType: 'image/png', fileUri: 'gs://b/a.png' } }),
    refused: 'data: URL',
  },
  {
    field: 'contents[].parts[].functionCall, functionResponse',
    body: asked(CALL, RESULT),
    as: spoken(called('c1'), answered('c1')),
  },
  {
    field: 'contents[].parts[].functionCall (no id)',
    body: asked(
      { functionCall: { name: 'sky', args: { at: 'Oslo' } } },
      { name: 'sky', response: { is: 'grey' } },
    ),
    as: spoken(called('call_1'), answered('call_1')),
  },
  {
    field: 'contents[].parts[].functionResponse.parts',
    body: asked(CALL, { ...RESULT, parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] }),
    as: spoken(called('c1'), answered('c1', [{ type: 'text', text: '{"is":"grey"}' }]), {
      role: 'user',
      content: [
        { type: 'text', text: 'The result of the tool call c1:' },
        image(`data:image/png;base64,${PNG}`),
      ],
    }),
  },
  {
    field: 'contents[].parts[].functionResponse.parts (that the model cannot see)',
    model: 'searching',
    body: asked(CALL, { ...RESULT, parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] }),
    as: spoken(
      called('c1'),
      answered('c1', [
        { type: 'text', text: '{"is":"grey"}' },
        { type: 'text', text: '(What cannot be shown to this model: one image.)' },
      ]),
    ),
    ignored: 'contents[].parts[].functionResponse.parts',
  },
  {
    field: 'contents[].parts[].functionCall.args (nested deep)',
    body: asked({ functionCall: { name: 'sky', args: DEEP } }, RESULT),
    refused: 'functionCall.args must not be nested more than 200 levels deep',
  },
  {
    field: 'contents[].parts[].functionResponse.response (nested deep)',
    body: asked(CALL, { ...RESULT, response: DEEP }),
    refused: 'functionResponse.response must not be nested more than 200 levels deep',
  },
  {
    field: 'contents[].parts[].functionResponse.scheduling',
    body: asked(CALL, { ...RESULT, scheduling: 'SILENT' }),
    ignored: 'contents[].parts[].functionResponse.scheduling',
  },
  {
    field: 'contents[].parts[].executableCode',
    body: turn({ executableCode: { language: 'PYTHON', code: '1' } }),
    as: spoken(
      { role: 'assistant', content: '```python\n1\n```' },
      { role: 'user', content: 'Go on.' },
    ),
  },
  {
    field: 'contents[].parts[].codeExecutionResult',
    body: turn({ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }),
    as: spoken(
      { role: 'assistant', content: '```outcome_ok\n1\n```' },
      { role: 'user', content: 'Go on.' },
    ),
  },
  {
    field: 'contents[].parts[].videoMetadata',
    body: parts({ text: 'Hi', videoMetadata: { fps: 1 } }),
    ignored: 'contents[].parts[].videoMetadata',
  },
  {
    field: 'systemInstruction',
    body: { systemInstruction: { parts: [{ text: 'Be brief.' }] } },
    as: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello!' },
      ],
    },
  },
  {
    field: 'system_instruction (single)',
    body: { system_instruction: { parts: { text: 'Be brief.' } } },
    as: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello!' },
      ],
    },
  },
  {
    field: 'systemInstruction (image)',
    body: { systemInstruction: { parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] } },
    refused: 'systemInstruction.parts[0] must be a text',
  },
];

const TOOLS: Row[] = [
  {
    field: 'tools[].functionDeclarations[].parameters',
    body: declared({ description: 'Up', parameters: OLD_SCHEMA }),
    as: { tools: [said('sky', { description: 'Up', parameters: SCHEMA }), said('sea')] },
  },
  {
    field: 'tools[].functionDeclarations[].parametersJsonSchema',
    body: declared({ parametersJsonSchema: SCHEMA }),
    as: { tools: [said('sky', { parameters: SCHEMA }), said('sea')] },
  },
  {
    field: 'tools.function_declarations (single)',
    body: { tools: { function_declarations: { name: 'sky' } } },
    as: { tools: [said('sky')] },
  },
  {
    field: 'tools[].functionDeclarations[].response',
    body: declared({ response: { type: 'STRING' } }),
    ignored: 'tools[].functionDeclarations[].response',
  },
  {
    field: 'tools[].functionDeclarations[].behavior',
    body: declared({ behavior: 'BLOCKING' }),
    ignored: 'tools[].functionDeclarations[].behavior',
  },
  { field: 'tools (model without them)', model: 'plain', body: declared(), ignored: 'tools' },
  {
    field: 'tools[].googleSearch',
    body: { tools: [{ googleSearch: {} }] },
    ignored: 'tools[].googleSearch',
  },
  {
    field: 'tools[].google_search (listed)',
    model: 'searching',
    body: { tools: [{ google_search: { timeRangeFilter: {} } }] },
    as: { tools: [{ type: 'google_search', google_search: { timeRangeFilter: {} } }] },
  },
  {
    field: 'tools[].googleSearch (listed)',
    model: 'searching',
    body: { tools: [{ googleSearch: {} }] },
    as: { tools: [{ type: 'google_search', google_search: {} }] },
  },
  ...[
    'codeExecution',
    'urlContext',
    'googleSearchRetrieval',
    'fileSearch',
    'computerUse',
    'googleMaps',
    'mcpServers',
  ].map((name): Row => ({
    field: `tools[].${name}`,
    body: { tools: [{ [name]: {} }] },
    ignored: `tools[].${name}`,
  })),
  { field: 'toolConfig AUTO', body: choosing('AUTO'), as: { tool_choice: 'auto' } },
  { field: 'toolConfig ANY', body: choosing('ANY'), as: { tool_choice: 'required' } },
  { field: 'toolConfig NONE', body: choosing('NONE'), as: { tool_choice: 'none' } },
  {
    field: 'toolConfig VALIDATED',
    body: choosing('VALIDATED', ['sea']),
    as: { tools: [said('sea')] },
  },
  {
    field: 'toolConfig ANY, one name',
    body: choosing('ANY', ['sea']),
    as: { tools: [said('sky'), said('sea')], tool_choice: said('sea') },
  },
  {
    field: 'toolConfig ANY, names',
    body: choosing('ANY', ['sea', 'sky']),
    as: { tools: [said('sky'), said('sea')], tool_choice: 'required' },
  },
  {
    field: 'toolConfig ANY, unknown name',
    body: choosing('ANY', ['sun']),
    refused: 'allowedFunctionNames names no function',
  },
  {
    field: 'tool_config.function_calling_config',
    body: {
      ...declared(),
      tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['sea'] } },
    },
    as: { tool_choice: said('sea') },
  },
  {
    field: 'toolConfig (unknown mode)',
    body: choosing('MAYBE'),
    refused: 'toolConfig.functionCallingConfig.mode must be one of',
  },
  {
    field: 'toolConfig.retrievalConfig',
    body: { toolConfig: { retrievalConfig: { languageCode: 'en' } } },
    ignored: 'toolConfig.retrievalConfig',
  },
];

const CONFIG: Row[] = [
  {
    field: 'generationConfig.temperature',
    body: config('temperature', 0.5),
    as: { temperature: 0.5 },
  },
  { field: 'generationConfig.topP', body: config('topP', 0.5), as: { top_p: 0.5 } },
  { field: 'generationConfig.topK', body: config('topK', 40), as: { top_k: 40 } },
  {
    field: 'generationConfig.topK (not listed)',
    model: 'plain',
    body: config('topK', 40),
    ignored: 'generationConfig.topK',
  },
  {
    field: 'generation_config.top_k',
    body: { generation_config: { top_k: 40 } },
    as: { top_k: 40 },
  },
  {
    field: 'generationConfig.maxOutputTokens',
    body: config('maxOutputTokens', 50),
    as: { max_tokens: 50 },
  },
  {
    field: 'generation_config.max_output_tokens',
    body: { generation_config: { max_output_tokens: 50 } },
    as: { max_tokens: 50 },
  },
  { field: 'generationConfig.candidateCount', body: config('candidateCount', 2), as: { n: 2 } },
  {
    field: 'generationConfig.stopSequences',
    body: config('stopSequences', ['END']),
    as: { stop: ['END'] },
  },
  { field: 'generationConfig.seed', body: config('seed', 7), as: { seed: 7 } },
  {
    field: 'generationConfig.presencePenalty',
    body: config('presencePenalty', 1),
    as: { presence_penalty: 1 },
  },
  {
    field: 'generationConfig.frequencyPenalty',
    body: config('frequencyPenalty', 1),
    as: { frequency_penalty: 1 },
  },
  {
    field: 'generationConfig.responseMimeType',
    body: config('responseMimeType', 'application/json'),
    as: { response_format: { type: 'json_object' } },
  },
  {
    field: 'generationConfig.responseMimeType (text)',
    body: config('responseMimeType', 'text/plain'),
    as: { response_format: undefined },
  },
  {
    field: 'generationConfig.responseMimeType (enum)',
    body: {
      generationConfig: {
        responseMimeType: 'text/x.enum',
        responseSchema: { type: 'STRING', enum: ['wet', 'dry'] },
      },
    },
    as: json({
      type: 'object',
      properties: { value: { type: 'string', enum: ['wet', 'dry'] } },
      required: ['value'],
      additionalProperties: false,
    }),
  },
  {
    field: 'generationConfig.responseMimeType (enum, without values)',
    body: config('responseMimeType', 'text/x.enum'),
    refused: 'generationConfig.responseSchema is missing for text/x.enum.',
  },
  {
    field: 'generationConfig.responseMimeType (unknown)',
    body: config('responseMimeType', 'text/html'),
    refused: 'generationConfig.responseMimeType must be one of text/plain, application/json,',
  },
  {
    field: 'generationConfig.responseSchema',
    body: config('responseSchema', OLD_SCHEMA),
    as: json(SCHEMA),
  },
  {
    field: 'generationConfig.response_schema',
    body: {
      generation_config: { response_schema: { any_of: [{ type: 'STRING', min_length: '1' }] } },
    },
    as: json({ anyOf: [{ type: 'string', minLength: 1 }] }),
  },
  {
    field: 'generationConfig.responseJsonSchema',
    body: config('responseJsonSchema', SCHEMA),
    as: json(SCHEMA),
  },
  {
    field: 'generationConfig.responseLogprobs, logprobs',
    body: { generationConfig: { responseLogprobs: true, logprobs: 3 } },
    as: { logprobs: true, top_logprobs: 3 },
  },
  {
    field: 'generationConfig.responseModalities TEXT',
    body: config('responseModalities', ['TEXT']),
    as: user('Hello!'),
  },
  {
    field: 'generationConfig.responseModalities IMAGE',
    body: config('responseModalities', ['TEXT', 'IMAGE']),
    refused: 'generationConfig.responseModalities: chat answers with TEXT alone',
  },
  {
    field: 'generationConfig.responseFormat',
    body: config('responseFormat', [{ text: {} }]),
    refused: 'generationConfig.responseFormat: send responseMimeType',
  },
  {
    field: 'generationConfig.thinkingConfig.thinkingLevel',
    body: config('thinkingConfig', { thinkingLevel: 'LOW' }),
    as: { reasoning: { effort: 'low', enabled: true, exclude: true } },
  },
  {
    field: 'generationConfig.thinkingConfig.thinkingBudget',
    body: config('thinkingConfig', { thinkingBudget: 4_096 }),
    as: { reasoning: { max_tokens: 4_096, enabled: true, exclude: true } },
  },
  {
    field: 'generationConfig.thinkingConfig.thinkingBudget 0',
    body: config('thinkingConfig', { thinkingBudget: 0 }),
    as: { reasoning: { enabled: false, exclude: true } },
  },
  {
    field: 'generationConfig.thinkingConfig.includeThoughts',
    body: config('thinkingConfig', { includeThoughts: true }),
    as: { reasoning: { enabled: true } },
  },
  {
    field: 'generationConfig.thinking_config (Claude)',
    model: 'thinking',
    body: { generation_config: { thinking_config: { thinking_budget: 4_096 } } },
    as: { thinking: { type: 'enabled', budget_tokens: 4_096 } },
  },
  {
    field: 'generationConfig.thinkingConfig (effort)',
    model: 'plain',
    body: config('thinkingConfig', { thinkingBudget: 4_096 }),
    as: { reasoning_effort: 'medium' },
  },
  {
    field: 'generationConfig.thinkingConfig (not listed)',
    model: 'bare',
    body: config('thinkingConfig', { thinkingLevel: 'high' }),
    ignored: 'generationConfig.thinkingConfig',
  },
  ...[
    'mediaResolution',
    'speechConfig',
    'imageConfig',
    'enableEnhancedCivicAnswers',
    'audioTimestamp',
  ].map((name): Row => ({
    field: `generationConfig.${name}`,
    body: config(name, 'X'),
    ignored: `generationConfig.${name}`,
  })),
  {
    field: 'generationConfig.temperature (null, as if absent)',
    body: config('temperature', null),
    as: { temperature: undefined },
  },
  {
    field: 'generationConfig.temperature (3)',
    body: config('temperature', 3),
    refused: 'generationConfig.temperature must be at most 2',
  },
];

const REST: Row[] = [
  {
    field: 'safetySettings',
    body: { safetySettings: [{ category: 'X', threshold: 'Y' }] },
    as: { safetySettings: [{ category: 'X', threshold: 'Y' }] },
  },
  {
    field: 'safety_settings (not listed)',
    model: 'plain',
    body: { safety_settings: [] },
    ignored: 'safetySettings',
  },
  {
    field: 'cachedContent',
    body: { cachedContent: 'cachedContents/1' },
    refused: 'cachedContent: no content is kept here',
  },
  {
    field: 'cached_content',
    body: { cached_content: 'cachedContents/1' },
    refused: 'cachedContent: no content is kept here',
  },
  { field: 'labels', body: { labels: { a: 'b' } }, ignored: 'labels' },
  { field: 'store', body: { store: true }, ignored: 'store' },
  { field: 'serviceTier', body: { serviceTier: 'FLEX' }, ignored: 'serviceTier' },
  ...[
    { n: 0.001 },
    { max_tokens: 1 },
    { stream: true },
    { messages: [] },
    { response_format: { type: 'json_object' } },
  ].map((body): Row => {
    const [name = ''] = Object.keys(body);
    return { field: `${name} (of chat completions)`, body, ignored: name };
  }),
  { field: 'model (the path names it)', body: { model: 'models/other' }, as: { model: 'all' } },
];

/** The word of the table for what is asserted. */
function fate({ body, as, ignored, refused }: Row): string {
  if (refused !== undefined) return 'refused';
  if (ignored !== undefined) return 'ignored and named';
  const said = { ...body, ...(body.generationConfig as Body | undefined) };
  const isSame = Object.entries(as ?? {}).every(
    ([name, value]) => JSON.stringify(said[name]) === JSON.stringify(value),
  );
  return isSame ? 'honoured' : 'translated';
}

describe('the fields of the Gemini API', () => {
  let upstream: FakeUpstream;
  let house: TestGateway;
  before(async () => {
    upstream = await startUpstream(chatJson('Good day!'));
    const at = `base_url: '${upstream.url}', api_key: sk`;
    const model = (name: string, provider: string, more: string): string =>
      `  ${name}: { owner: o, upstreams: [{ provider: ${provider} }], price: free, ${more} }\n`;
    house = await startGateway(`
owners: { o: { name: O } }
providers: { acme: { uses: openai, ${at} }, lab: { uses: litellm, ${at} }, bare: { uses: llama-cpp, ${at} } }
models:
${model('all', 'acme', `capabilities: [chat, vision, audio, tools, file], passthrough: [${ALL}]`)}
${model('plain', 'acme', 'capabilities: [chat]')}
${model('bare', 'bare', 'capabilities: [chat]')}
${model('replaying', 'lab', 'capabilities: [chat], passthrough: [reasoning_content]')}
${model('thinking', 'acme', 'capabilities: [chat], passthrough: [thinking]')}
${model('searching', 'acme', 'capabilities: [chat, tools], tool_types: [google_search]')}
`);
  });
  after(async () => {
    await house.close();
    await upstream.close();
  });

  const post = (row: Row): Promise<Answer> =>
    ask(house, `/v1beta/models/${row.model ?? 'all'}:generateContent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ contents: HELLO, ...row.body }),
    });

  for (const row of [...CONTENTS, ...TOOLS, ...CONFIG, ...REST]) {
    it(`${fate(row).padEnd(18)} ${row.field}`, async () => {
      const { status, text, headers } = await post(row);
      const ignored = headers.get('tollgate-ignored');
      if (row.refused === undefined) {
        expect(status, text).to.equal(200);
        expect(ignored).to.equal(row.ignored ?? null);
        const sent = upstream.requests.at(-1)?.json as Body;
        for (const [name, value] of Object.entries(row.as ?? {})) {
          expect(sent[name], name).to.deep.equal(value);
        }
      } else {
        expect(status).to.equal(400);
        expect((JSON.parse(text) as { error: object }).error).to.include({
          code: 400,
          status: 'INVALID_ARGUMENT',
        });
        expect(text).to.include(row.refused);
      }
    });
  }
});
