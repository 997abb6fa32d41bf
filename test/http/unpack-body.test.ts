import { expect } from 'chai';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { ask, completionOf, errorOf, type Answer } from '../helpers/ask.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { rawClient } from '../helpers/raw-client.js';
import { expectShape } from '../helpers/schemas.js';

const YAML = `
owners: { me: { name: Me } }
limits: { body: 1mb }
providers: { simulator: {} }
models:
  sim: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }
  ears: { owner: me, capabilities: [transcription], upstreams: [{ provider: simulator }], price: free }
`;
const LIMIT_BYTES = 1024 ** 2;
const MESSAGES = [{ role: 'user', content: 'Hello.' }];
const CHAT = JSON.stringify({ model: 'sim', messages: MESSAGES });
/** The same, as the program `zstd` packs it. */
const ZSTD_CHAT =
  'KLUv/SRi/QEAIoQNEaDthR24jaxNawQLTxM+oTows8wHBYRj3nE9bAubOxd/2/H6Zfcuib43me5lF2err+dFjl0GAQAtvEABbqphpw==';

/** A frame of zstd that does not state its length: blocks as they are, or one byte many times. */
function zstd(...blocks: (string | { byte: number; times: number })[]): Buffer {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x58]);
  const written = blocks.map((block, at) => {
    const isRun = typeof block === 'object';
    const bytes = isRun ? Buffer.from([block.byte]) : Buffer.from(block);
    const size = isRun ? block.times : bytes.length;
    const start = Buffer.alloc(3);
    start.writeUIntLE((size << 3) | (Number(isRun) << 1) | Number(at === blocks.length - 1), 0, 3);
    return Buffer.concat([start, bytes]);
  });
  return Buffer.concat([head, ...written]);
}

const SPACES = Buffer.alloc(4 * LIMIT_BYTES, ' ');
const RUNS = Array.from({ length: 32 }, () => ({ byte: 0x20, times: 128 * 1024 }));

const CODINGS: Readonly<Record<string, { pack: (text: string) => Buffer; bomb: () => Buffer }>> = {
  gzip: { pack: (text) => gzipSync(text), bomb: () => gzipSync(SPACES) },
  'X-GZIP': { pack: (text) => gzipSync(text), bomb: () => gzipSync(SPACES) },
  deflate: { pack: (text) => deflateSync(text), bomb: () => deflateSync(SPACES) },
  br: { pack: (text) => brotliCompressSync(text), bomb: () => brotliCompressSync(SPACES) },
  zstd: { pack: (text) => zstd(text.slice(0, 9), text.slice(9)), bomb: () => zstd(...RUNS) },
};

describe('a packed body', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway(YAML);
  });
  after(() => gateway.close());

  const post = (path: string, coding: string, body: Buffer, type = 'application/json') =>
    ask(gateway, path, {
      method: 'POST',
      headers: { 'content-type': type, 'content-encoding': coding },
      body: new Uint8Array(body),
    });
  const chat = (coding: string, body: Buffer): Promise<Answer> =>
    post('/v1/chat/completions', coding, body);

  for (const [coding, { pack, bomb }] of Object.entries(CODINGS)) {
    it(`is read as ${coding}`, async () => {
      completionOf(await chat(coding, pack(CHAT)));
      const long = JSON.stringify({ model: 'sim', messages: MESSAGES, user: 'é'.repeat(90_000) });
      if (coding !== 'zstd') completionOf(await chat(coding, pack(long)));
    });

    it(`is 413 as soon as its ${coding} is more than limits.body, and takes no memory`, async () => {
      const answer = await chat(coding, bomb());
      expect(answer.status).to.equal(413);
      expect(errorOf(answer)).to.include({ code: 'body_too_large' });
      expect(errorOf(answer).message).to.include(String(LIMIT_BYTES));
      expect(gateway.gateway.in_flight_bytes).to.equal(0);
    });

    it(`is told to be broken where its ${coding} is cut, or is something else`, async () => {
      const packed = pack(CHAT);
      for (const body of [
        packed.subarray(0, -5),
        Buffer.from('{"model":"sim"}'),
        Buffer.alloc(0),
      ]) {
        const answer = await chat(coding, body);
        expect(answer.status).to.equal(400);
        expect(errorOf(answer).message).to.include('cannot be unpacked').and.include(coding);
      }
    });
  }

  it('is read as the zstd of other programs, and told to be damaged', async () => {
    const packed = Buffer.from(ZSTD_CHAT, 'base64');
    completionOf(await chat('zstd', packed));
    packed.writeUInt8(packed.readUInt8(20) ^ 0xff, 20);
    expect((await chat('zstd', packed)).status).to.equal(400);
  });

  it('may be a form', async () => {
    const form = new FormData();
    form.append('model', 'ears');
    form.append('file', new Blob([Buffer.from('RIFF')]), 'a.mp3');
    const request = new Request('http://x', { method: 'POST', body: form });
    const type = request.headers.get('content-type') ?? '';
    const bytes = gzipSync(Buffer.from(await request.arrayBuffer()));
    const { status, text } = await post('/v1/audio/transcriptions', 'gzip', bytes, type);
    expect(status, text).to.equal(200);
  });

  it('has no more packed bytes than limits.body, also where they unpack to nothing', async () => {
    const nothing = gzipSync('');
    const answer = await chat('gzip', Buffer.alloc(LIMIT_BYTES + nothing.length, nothing));
    expect(answer.status).to.equal(413);
  });

  for (const coding of ['compress', 'gzip, gzip', 'gzip, br', 'aws-chunked', '']) {
    it(`is 415 as "${coding}", and learns what is taken`, async () => {
      const answer = await chat(coding, gzipSync(CHAT));
      expect(answer.status).to.equal(415);
      expect(answer.headers.get('accept-encoding')).to.equal('gzip, deflate, br, zstd');
      expect(errorOf(answer)).to.include({ code: 'unsupported_encoding' });
    });
  }

  it('is read by the management API too', async () => {
    const { tokens } = gateway.gateway.store;
    const { secret } = await tokens.create({ name: 'shop', scopes: ['accounts:write'] });
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const create = (coding: string, text: string): Promise<Answer> => {
      const packed = CODINGS[coding]?.pack(text) ?? Buffer.alloc(0);
      const body = new Uint8Array(packed);
      const init = { method: 'POST', headers: { ...headers, 'content-encoding': coding }, body };
      return ask(gateway, '/api/accounts', init);
    };
    expect((await create('zstd', '{"name":"ann"}')).status).to.equal(201);
    expect((await create('gzip', JSON.stringify({ name: 'x'.repeat(99_999) }))).status).to.equal(
      413,
    );
  });

  it('is 415 and 413 in the words of each API', async () => {
    const errors = async (path: string) => [
      JSON.parse((await post(path, 'compress', gzipSync(CHAT))).text) as object,
      JSON.parse((await post(path, 'gzip', gzipSync(SPACES))).text) as object,
    ];
    const [coded, large] = await errors('/v1/messages');
    expect(coded).to.have.nested.property('error.type', 'invalid_request_error');
    expect(large).to.have.nested.property('error.type', 'request_too_large');
    const [other, big] = await errors('/v1beta/models/sim:generateContent');
    expect(other).to.have.deep.nested.property('error.code', 415);
    expect(other).to.have.nested.property('error.status', 'INVALID_ARGUMENT');
    expect(big).to.have.deep.nested.property('error.code', 413);
    for (const path of ['/v1/responses', '/openai/v1/chat/completions', '/v1/embeddings']) {
      for (const error of await errors(path)) expectShape('error', error);
    }
  });

  it('leaves its connection usable when it is refused', async () => {
    const body = CODINGS.br?.bomb() ?? Buffer.alloc(0);
    const head = (coding: string, bytes: Buffer): string =>
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.secret}\r\n` +
      `content-type: application/json\r\ncontent-encoding: ${coding}\r\n` +
      `content-length: ${bytes.length}\r\n\r\n`;
    const client = rawClient(gateway.url, head('br', body));
    client.socket.write(body);
    await client.until((text) => text.includes('body_too_large'));
    const good = gzipSync(CHAT);
    client.socket.write(head('gzip', good));
    client.socket.write(good);
    await client.until((text) => text.includes('chat.completion') || text.includes('"choices"'));
    client.socket.destroy();
  });
});
