import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { chatJson, type Step } from '../../helpers/upstream.js';
import { splitAt } from '../../helpers/packets.js';
import {
  dataOf,
  HELLO,
  scriptedGateways,
  onlyCharge,
  type ScriptedGateway,
} from '../../money/helpers/scripted-gateway.js';

interface Chunk {
  id: string;
  created: number;
  object: string;
  model: string;
  choices: {
    index: number;
    delta: { role?: string; content?: string };
    finish_reason: string | null;
  }[];
  usage?: object;
}

const schema = new URL('../../../schemas/chat-completion-chunk.schema.json', import.meta.url);
const isChunk = new Ajv2020({ allowUnionTypes: true }).compile(
  JSON.parse(readFileSync(schema, 'utf8')) as AnySchema,
);

const STREAM = { ...HELLO, n: 2, stream: true };

const piece = (index: number, delta: object, finish_reason: string | null = null): object => ({
  id: 'chatcmpl-upstream',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'fake-1',
  choices: [{ index, delta, finish_reason }],
});
/** Two answers, one word each in turn, with characters of one to four bytes. */
const SAID = [
  piece(0, { role: 'assistant', content: '' }),
  piece(1, { role: 'assistant', content: '' }),
  piece(0, { content: 'Grüße ' }),
  piece(1, { content: '今日は' }),
  piece(0, { content: 'an 👩‍🚀 ' }),
  piece(1, { content: '\r\n\u2028🎈' }),
  piece(0, { content: 'und "Co"' }),
  piece(0, {}, 'stop'),
  piece(1, {}, 'length'),
].map((event) => `data: ${JSON.stringify(event)}`);
const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12}}';
const EVENTS = [...SAID, USAGE, 'data: [DONE]'];
const PLAIN = EVENTS.map((event) => `${event}\n\n`).join('');

function sending(packets: readonly (string | Uint8Array)[]): Step {
  return { headers: { 'content-type': 'text/event-stream' }, chunks: packets };
}

function inside(text: string): Uint8Array[] {
  const bytes = Buffer.from(text);
  return splitAt(
    bytes,
    [...bytes.keys()].filter((at) => ((bytes[at] ?? 0) & 0xc0) === 0x80),
  );
}

const WAYS: [string, readonly (string | Uint8Array)[]][] = [
  ['in one packet', [PLAIN]],
  ['an event a packet', EVENTS.map((event) => `${event}\n\n`)],
  ['one byte a packet', [...Buffer.from(PLAIN)].map((byte) => Uint8Array.of(byte))],
  ['two events a packet', [...(PLAIN.match(/(?:[^\n]*\n\n){1,2}/gu) ?? [])]],
  ['split inside each character', inside(PLAIN)],
  ['with CRLF', [PLAIN.replaceAll('\n', '\r\n')]],
  ['with CRLF, one byte a packet', [...Buffer.from(PLAIN.replaceAll('\n', '\r\n'))].map(one)],
  ['with CR', [PLAIN.replaceAll('\n', '\r')]],
  ['with comments between', [`: hello\n\n${PLAIN.replaceAll('\n\n', '\n\n: ping\n\n')}`]],
  ['with event names and ids', [PLAIN.replaceAll('data: ', 'event: message\nid: 7\ndata: ')]],
  ['without a space after the colon', [PLAIN.replaceAll('data: ', 'data:')]],
  ['without a blank line at the end', [PLAIN.trimEnd()]],
  ['without [DONE]', [PLAIN.replace('data: [DONE]\n\n', '')]],
  ['with a byte order mark', [`\ufeff${PLAIN}`]],
  ['with usage on each chunk', [PLAIN.replaceAll('}]}\n', '}],"usage":null}\n')]],
];

function one(byte: number): Uint8Array {
  return Uint8Array.of(byte);
}

describe('a chat stream', () => {
  const open = scriptedGateways();

  async function textFrom(gateway: ScriptedGateway): Promise<string> {
    const response = await gateway.post(STREAM);
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.match(/^text\/event-stream/u);
    return response.text();
  }

  function chunksIn(text: string): Chunk[] {
    expect(text).to.match(/^(data: [^\r\n]+\n\n)+$/u);
    const data = dataOf(text);
    expect(data.pop()).to.equal('[DONE]');
    return data.map((json) => {
      const chunk = JSON.parse(json) as Chunk;
      expect(isChunk(chunk), `${json} ${JSON.stringify(isChunk.errors)}`).to.equal(true);
      return chunk;
    });
  }

  /** What a chunk says, apart from which answer it belongs to. */
  const said = ({ choices, usage }: Chunk): object => ({ choices, ...(usage && { usage }) });
  const saying = (index: number, content: string): object => ({
    choices: [{ index, delta: { content }, finish_reason: null }],
  });
  const opening = (index: number): object => ({
    choices: [{ index, delta: { role: 'assistant' }, finish_reason: null }],
  });
  const ending = (index: number, finish_reason: string): object => ({
    choices: [{ index, delta: {}, finish_reason }],
  });
  const usage = { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 };
  const EXPECTED = [
    opening(0),
    saying(0, 'Grüße '),
    opening(1),
    saying(1, '今日は'),
    saying(0, 'an 👩‍🚀 '),
    saying(1, '\r\n\u2028🎈'),
    saying(0, 'und "Co"'),
    ending(0, 'stop'),
    ending(1, 'length'),
    { choices: [], usage },
  ];

  for (const [name, packets] of WAYS) {
    it(`says the same when it comes ${name}`, async () => {
      const gateway = await open(sending(packets));
      const chunks = chunksIn(await textFrom(gateway));
      expect(chunks.map(said)).to.deep.equal(EXPECTED);
      expect((await onlyCharge(gateway)).estimated).to.equal(false);
    });
  }

  it('says the same without usage, which is then estimated', async () => {
    const gateway = await open(sending([PLAIN.replace(`${USAGE}\n\n`, '')]));
    const chunks = chunksIn(await textFrom(gateway));
    expect(chunks.slice(0, -1).map(said)).to.deep.equal(EXPECTED.slice(0, -1));
    const last = chunks.at(-1);
    const charge = await onlyCharge(gateway);
    expect(charge.estimated).to.equal(true);
    expect(last?.usage).to.deep.include(JSON.parse(charge.usage ?? '') as object);
  });

  it('has one id, one time, the object and the public model on every chunk', async () => {
    const gateway = await open(sending([PLAIN]));
    const response = await gateway.post(STREAM);
    const chunks = chunksIn(await response.text());
    const heads = chunks.map(({ id, object, model, created }) => ({ id, object, model, created }));
    const id = `chatcmpl-${response.headers.get('x-request-id')}`;
    const { created } = heads[0] ?? {};
    const head = { id, object: 'text_completion.chunk', model: 'm', created };
    expect(heads).to.deep.equal(heads.map(() => head));
    expect(created).to.be.within(1_700_000_000, 99_999_999_999);
  });

  it('asks the upstream for usage', async () => {
    const gateway = await open(sending([PLAIN]));
    await textFrom(gateway);
    const sent = gateway.upstream.requests[0]?.json;
    expect(sent).to.deep.include({ stream: true, stream_options: { include_usage: true }, n: 2 });
  });

  it('maps a finish reason that the upstream has invented', async () => {
    const gateway = await open(sending([PLAIN.replace('"length"', '"eos_token"')]));
    const chunks = chunksIn(await textFrom(gateway));
    expect(chunks.at(-2)?.choices[0]?.finish_reason).to.equal('stop');
  });

  it('is 502 and free of only choices beyond those asked for, not an empty 200', async () => {
    const chunks = [piece(7, { content: 'Grüße' }), piece(7, {}, 'stop')];
    const events = [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}`), 'data: [DONE]'];
    const gateway = await open(sending(events.map((event) => `${event}\n\n`)));
    const response = await gateway.post(STREAM);
    expect(response.status).to.equal(502);
    expect(await response.json()).to.have.nested.property('error.code', 'upstream_error');
    await gateway.settled();
    expect(await gateway.charges()).to.deep.equal([]);
  });

  it('is made of a JSON answer where the upstream does not stream', async () => {
    const gateway = await open(chatJson('Grüße 🎈'));
    const chunks = chunksIn(await textFrom(gateway));
    expect(chunks.map(said)).to.deep.equal([
      opening(0),
      saying(0, 'Grüße 🎈'),
      ending(0, 'stop'),
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } },
    ]);
    expect((await onlyCharge(gateway)).amount_nano).to.equal(-4350n);
  });
});
