import { expect } from 'chai';
import { ask } from '../../helpers/ask.js';
import { at, listAt, TOOL, type Turn } from './formats/helpers/conversation-parts.js';
import { FORMAT_CLIENTS, type FormatClient } from './formats/helpers/format-clients.js';
import { WIRE_FAKES } from './formats/helpers/wires/wire-fakes.js';
import { WiresGateway } from './formats/helpers/wires/wires-gateway.js';

const LONG = `${'search_the_whole_archive_of_letters_'.repeat(4)}`.slice(0, 130);
const ODD = 'mcp files/read: naïve?';
const DIGIT = '3d_view';
/** Two of them share far more than their first 64 characters. */
const NAMES = [`${LONG}_a`, `${LONG}_b`, ODD, DIGIT];
/** As vLLM makes them: longer than OpenAI takes, and with characters that Claude does not. */
const LONG_ID = `chatcmpl-tool-${'0123456789abcdef'.repeat(4)}:0`;

/** What each wire takes, by its documentation. */
const LEGAL: Record<string, { name: RegExp; id: RegExp }> = {
  openai: { name: /^[\w-]{1,64}$/u, id: /^.{1,40}$/u },
  azure: { name: /^[\w-]{1,64}$/u, id: /^.{1,40}$/u },
  anthropic: { name: /^[\w-]{1,128}$/u, id: /^[\w-]{1,64}$/u },
  vertex: { name: /^[\w-]{1,128}$/u, id: /^[\w-]{1,64}$/u },
  bedrock: { name: /^[\w-]{1,64}$/u, id: /^[\w-]{1,64}$/u },
  gemini: { name: /^[a-zA-Z_][\w.:-]{0,63}$/u, id: /^/u },
};
/** Where each wire has the IDs of calls and of results. */
const IDS = /"(?:tool_call_id|toolUseId|tool_use_id|call_id)":"([^"]*)"/gu;

describe('tools whose names and IDs a wire does not take', () => {
  const wires = new WiresGateway();
  /** The names under which each wire was offered tools. */
  let offered: string[] = [];
  let turn: Turn | undefined;

  before(() =>
    wires.start((wire, received) => {
      offered = wire.read(received).tools.map((tool) => String(tool.name));
      const args = { city: 'Oslo', fact: 'weather' };
      return turn ?? { calls: offered.map((name) => ({ name, args })) };
    }),
  );
  after(() => wires.close());
  beforeEach(() => (turn = undefined));

  for (const [client, format] of Object.entries(FORMAT_CLIENTS)) {
    for (const [wire, fake] of Object.entries(WIRE_FAKES)) {
      it(`${client} through ${wire}: the client sees its own names, and results find their calls`, async () => {
        for (const stream of [false, true]) {
          const path = format.path(wire, stream);
          // A name of the client's own that equals one which was made before.
          await wires.post(path, withTools(format, wire, stream, NAMES));
          const names = [...NAMES, offered[0] ?? ''];
          const body = withTools(format, wire, stream, names);
          const told = format.read(await wires.post(path, body), stream);
          expect(offered).to.have.length(5);
          expect(new Set(offered).size).to.equal(5);
          for (const name of offered) expect(name).to.match(LEGAL[wire]?.name ?? /$^/u);
          expect(offered[4]).to.equal(names[4]);
          expect(told.calls.map(({ name }) => name)).to.deep.equal(names);
          const first_offered = offered;

          turn = { text: 'Cold.' };
          const so_far = body[format.turns] as object[];
          const more = [...told.echo, ...format.results(told.calls, 'sun')];
          const next = { ...body, [format.turns]: [...so_far, ...more] };
          const id = told.calls[0]?.id ?? 'none';
          const text = JSON.stringify(next).replaceAll(`"${id}"`, JSON.stringify(LONG_ID));
          await wires.post(path, JSON.parse(text) as object);
          turn = undefined;
          const { body: sent } = wires.sentTo(wire);
          const received = wires.fakes.get(wire)?.requests.at(-1);
          const arrived = received && fake.read(received);
          expect(arrived?.calls.map(({ name }) => name)).to.deep.equal(first_offered);
          expect(arrived?.results.map(({ name }) => name)).to.deep.equal(first_offered);
          expect(offered).to.deep.equal(first_offered);
          const ids = [...sent.matchAll(IDS)].map(([, one = '']) => one);
          for (const one of ids) expect(one).to.match(LEGAL[wire]?.id ?? /$^/u);
          expect(new Set(ids).size).to.be.oneOf([0, 5]);
        }
      });
    }
  }

  const CHOSEN: Record<string, { body: (name: string) => object; sent: string[] }> = {
    'chat completions': {
      body: (name) => ({ tool_choice: { type: 'function', function: { name } } }),
      sent: ['tool_choice', 'function', 'name'],
    },
    Messages: {
      body: (name) => ({ tool_choice: { type: 'tool', name } }),
      sent: ['tool_choice', 'function', 'name'],
    },
    Responses: {
      body: (name) => ({ tool_choice: { type: 'function', name } }),
      sent: ['tool_choice', 'function', 'name'],
    },
    Gemini: {
      body: (name) => ({
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [name] } },
      }),
      sent: ['tool_choice', 'function', 'name'],
    },
  };

  for (const [client, { body, sent }] of Object.entries(CHOSEN)) {
    it(`${client}: a choice of one tool names it as its list does`, async () => {
      const format = FORMAT_CLIENTS[client];
      if (!format) throw new Error(client);
      const asked = { ...withTools(format, 'openai', false, NAMES), ...body(`${LONG}_b`) };
      await wires.post(format.path('openai', false), asked);
      expect(at(wires.sentTo('openai').json, ...sent)).to.equal(offered[1]);
    });
  }

  it('are chosen from allowed tools by the names that the client has', async () => {
    const tools = NAMES.map((name) => ({ type: 'function', name, parameters: TOOL.parameters }));
    const allowed = [{ type: 'function', name: `${LONG}_b` }];
    const tool_choice = { type: 'allowed_tools', mode: 'required', tools: allowed };
    const answer = await wires.post('/v1/responses', {
      model: 'gemini',
      input: 'Hi',
      tools,
      tool_choice,
    });
    expect(offered).to.have.length(1);
    expect(at(JSON.parse(answer.text), 'output', 0, 'name')).to.equal(`${LONG}_b`);
  });

  it('are told apart where a namespace and a name are another tool together', async () => {
    const parameters = { type: 'object', properties: {} };
    const inner = { type: 'function', name: 'weather', parameters };
    const tools = [
      { type: 'namespace', name: 'sky', tools: [inner] },
      { type: 'function', name: 'sky__weather', parameters },
      { type: 'namespace', name: `${LONG}_space`, tools: [inner] },
      { type: 'custom', name: ODD },
    ];
    for (const stream of [false, true]) {
      const answer = await wires.post('/v1/responses', {
        model: 'bedrock',
        input: 'Hi',
        tools,
        stream,
      });
      const lines = answer.text.split('\n').filter((line) => line.startsWith('data: '));
      const last: unknown = JSON.parse(stream ? (lines.at(-1) ?? '').slice(6) : answer.text);
      const items = listAt(last, ...(stream ? ['response', 'output'] : ['output']));
      expect(offered.every((name) => /^[\w-]{1,64}$/u.test(name))).to.equal(true);
      expect(items.map((item) => [at(item, 'namespace'), at(item, 'name')])).to.deep.equal([
        ['sky', 'weather'],
        [undefined, 'sky__weather'],
        [`${LONG}_space`, 'weather'],
        [undefined, ODD],
      ]);
    }
  });

  it('are named to Claude as its list has them where a tool is loaded later', async () => {
    turn = { text: 'Cold.' };
    const name = `${LONG}_a`;
    const input_schema = { type: 'object', properties: {} };
    await ask(wires.gateway, '/v1/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-beta': 'tool-search-2025' },
      body: JSON.stringify({
        model: 'anthropic',
        max_tokens: 100,
        messages: [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 't:1', name: 'find', input: {} }],
          },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 't:1',
                content: [{ type: 'tool_reference', tool_name: name }],
              },
            ],
          },
        ],
        tools: [
          { name: 'find', input_schema },
          { name, input_schema, defer_loading: true },
        ],
      }),
    });
    const { json } = wires.sentTo('anthropic');
    const [result] = listAt(json, 'messages', 2, 'content');
    expect(at(result, 'content', 0, 'tool_name')).to.equal(at(json, 'tools', 1, 'name'));
    expect(at(result, 'tool_use_id')).to.equal(at(json, 'messages', 1, 'content', 0, 'id'));
    expect(at(json, 'tools', 1, 'name')).to.match(/^[\w-]{1,128}$/u);
  });
});

/** A question with the tools of these names, all of one schema, in the words of a format. */
function withTools(
  format: FormatClient,
  wire: string,
  stream: boolean,
  names: readonly string[],
): Record<string, unknown> {
  const body = format.body(wire, { hasTools: true }, stream);
  const named = (tool: unknown): unknown[] =>
    names.map((name) => {
      const text = JSON.stringify(tool).replaceAll(`"${TOOL.name}"`, JSON.stringify(name));
      return JSON.parse(text) as unknown;
    });
  const [tool] = body.tools as Record<string, unknown>[];
  const declared = tool?.functionDeclarations;
  const tools = Array.isArray(declared)
    ? [{ functionDeclarations: named(declared[0]) }]
    : named(tool);
  return { ...body, tools };
}
