import { expect } from 'chai';
import { TOOL, type Arrived } from './formats/helpers/conversation-parts.js';
import { FORMAT_CLIENTS, type FormatClient } from './formats/helpers/format-clients.js';
import { WIRE_FAKES } from './formats/helpers/wires/wire-fakes.js';
import { WiresGateway } from './formats/helpers/wires/wires-gateway.js';

const text = { type: 'string' };
/** The wires of Claude and OpenAI, which refuse what Gemini's takes. */
const STRICT = Object.keys(WIRE_FAKES).filter((wire) => wire !== 'gemini');
const ALTERNATIVES = {
  type: 'object',
  anyOf: [
    { properties: { text, lang: text }, required: ['text', 'lang'] },
    { properties: { url: text, lang: text }, required: ['url', 'lang'] },
  ],
};
const UNITED = {
  type: 'object',
  properties: { text, lang: text, url: text },
  required: ['lang'],
};
const ODD = {
  type: 'object',
  properties: {
    'größe (m)': { type: 'object', properties: { 'x/y': text } },
    plain: text,
  },
  required: ['größe (m)', 'plain'],
};
const LEGAL = /^[\w.-]{1,64}$/u;

describe('tools whose schemas a wire does not take', () => {
  const wires = new WiresGateway();
  let arrived: Arrived | undefined;
  let said = '';

  before(() =>
    wires.start((wire, received) => {
      said = received.body;
      arrived = wire.read(received);
      const calls = arrived.tools.map((tool) => ({
        name: String(tool.name),
        args: argumentsFor(tool.parameters),
      }));
      return { calls };
    }),
  );
  after(() => wires.close());

  for (const [client, format] of Object.entries(FORMAT_CLIENTS)) {
    for (const wire of STRICT) {
      it(`${client} through ${wire}: alternatives at the top become one object`, async () => {
        await wires.post(format.path(wire, false), asking(format, wire, false, ALTERNATIVES));
        const [tool] = arrived?.tools ?? [];
        expect(tool?.parameters).to.deep.equal(UNITED);
        expect(tool?.description).to.include(TOOL.description);
        expect(tool?.description).to.include(JSON.stringify(ALTERNATIVES.anyOf));
      });

      it(`${client} through ${wire}: the client gets its own keys back, and they go out again`, async () => {
        for (const stream of [false, true]) {
          const body = asking(format, wire, stream, ODD);
          const told = format.read(await wires.post(format.path(wire, stream), body), stream);
          const [tool] = arrived?.tools ?? [];
          const { properties = {}, required } = (tool?.parameters ?? {}) as {
            properties?: Record<string, object>;
            required?: string[];
          };
          const names = Object.keys(properties);
          expect(required).to.deep.equal(names);
          for (const name of names) expect(name).to.match(LEGAL);
          expect(names[1]).to.equal('plain');
          const args = { 'größe (m)': { 'x/y': 'größe (m)' }, plain: 'x' };
          expect(told.calls.map((call) => call.args)).to.deep.equal([args]);
          const so_far = body[format.turns] as object[];
          const more = [...told.echo, ...format.results(told.calls, 'sun')];
          await wires.post(format.path(wire, stream), {
            ...body,
            [format.turns]: [...so_far, ...more],
          });
          expect(arrived?.calls.map((call) => call.args)).to.deep.equal([
            argumentsFor(tool?.parameters),
          ]);
        }
      });
    }

    it(`${client}: Gemini gets a schema as it is`, async () => {
      await wires.post(format.path('gemini', false), asking(format, 'gemini', false, ALTERNATIVES));
      expect(JSON.parse(said)).to.have.nested.property(
        'tools[0].functionDeclarations[0].parametersJsonSchema.anyOf',
      );
    });
  }

  it('lose strict where they are folded, which is named', async () => {
    const answer = await wires.post('/openai/v1/chat/completions', {
      model: 'openai',
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [
        { type: 'function', function: { name: 'look', strict: true, parameters: ALTERNATIVES } },
      ],
    });
    expect(said).not.to.include('"strict"');
    expect(answer.headers.get('tollgate-ignored')).to.equal('tools[].function.strict');
  });
});

/** Arguments for each property of a schema; its first one is an object, and all texts are alike. */
function argumentsFor(parameters: unknown): object {
  const { properties = {} } = parameters as { properties?: Record<string, object> };
  return Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [
      name,
      'properties' in part
        ? Object.fromEntries(
            Object.keys(part.properties as object).map((key) => [key, 'größe (m)']),
          )
        : 'x',
    ]),
  );
}

/** A question with one tool of this schema, in the words of a format. */
function asking(
  format: FormatClient,
  wire: string,
  stream: boolean,
  parameters: object,
): Record<string, unknown> {
  const text = JSON.stringify(format.body(wire, { hasTools: true }, stream));
  const schema = JSON.stringify(TOOL.parameters);
  const named = text.replace(`"parameters":${schema}`, `"parametersJsonSchema":${schema}`);
  const own =
    'functionDeclarations' in
    ((format.body(wire, { hasTools: true }, stream).tools as object[])[0] ?? {})
      ? named
      : text;
  return JSON.parse(own.replace(schema, JSON.stringify(parameters))) as Record<string, unknown>;
}
