import fc from 'fast-check';

/** What goes over a socket. */
export interface Shot {
  bytes: Buffer;
  /** Its client waits so long; what is not a whole request has no answer to wait for. */
  patience_ms: number;
}

const PATIENT_MS = 3_000;
const LEAVING_MS = 2;
const CUT_MS = 20;

export type Secrets = Record<'rich' | 'other' | 'poor', string>;

const CHAT = '/v1/chat/completions';
const IMAGES = '/v1/images/generations';
const QUEUE = '/v1/queue/sim-video';
const VIDEOS = '/v1/videos';

const model = fc.constantFrom('sim-chat', 'sim-chat', 'sim-free', 'sim-image', 'sim-video', 'none');
const content = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('text'), text: fc.string() }),
      fc.record({
        type: fc.constant('image_url'),
        image_url: fc.record({ url: fc.constantFrom('data:image/png;base64,AAAA', 'x:', '') }),
      }),
      fc.jsonValue({ maxDepth: 2 }),
    ),
    { maxLength: 3 },
  ),
);
const message = fc.record({
  role: fc.constantFrom('user', 'user', 'system', 'assistant', 'tool', 'developer', 'other'),
  content,
});
const chat = fc.record(
  {
    model,
    messages: fc.array(message, { minLength: 1, maxLength: 4 }),
    stream: fc.boolean(),
    max_tokens: fc.integer({ min: -1, max: 12 }),
    n: fc.integer({ min: 0, max: 3 }),
    temperature: fc.double({ min: -1, max: 3, noNaN: true }),
    tools: fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 2 }),
    stop: fc.oneof(fc.string({ maxLength: 3 }), fc.array(fc.string({ maxLength: 3 }))),
  },
  { requiredKeys: ['model', 'messages', 'max_tokens'] },
);
const plain = fc.record({
  model: fc.constantFrom('sim-chat', 'sim-free'),
  messages: fc.constant([{ role: 'user', content: 'Hello!' }]),
  max_tokens: fc.integer({ min: 1, max: 6 }),
  stream: fc.boolean(),
});
const image = fc.record(
  {
    model: fc.constantFrom('sim-image', 'sim-image', 'none'),
    prompt: fc.string({ maxLength: 20 }),
    n: fc.integer({ min: 0, max: 2 }),
    size: fc.constantFrom('16x16', '32x32', '0x0', 'big'),
    response_format: fc.constantFrom('url', 'b64_json', 'other'),
  },
  { requiredKeys: ['model', 'prompt', 'size'] },
);
const video = fc.record(
  {
    prompt: fc.string({ maxLength: 20 }),
    parameters: fc.oneof(
      fc.record({ duration_seconds: fc.integer({ min: 0, max: 9 }) }),
      fc.jsonValue({ maxDepth: 2 }),
    ),
  },
  { requiredKeys: ['prompt'] },
);
const openAiVideo = fc.record(
  {
    model: fc.constantFrom('sim-video', 'sim-video', 'none'),
    prompt: fc.string({ maxLength: 20 }),
    seconds: fc.constantFrom('1', '8', '9', 4, null, {}),
    size: fc.constantFrom('1280x720', '720x1280', '1x1'),
    input_reference: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: ['model', 'prompt'] },
);

const json = (value: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  value.map((one) => JSON.stringify(one));
/** Long ones cost what the limits let them. */
const long = fc
  .record({
    unit: fc.constantFrom(
      '{},',
      '[',
      '"\\"",',
      '[[],{}],',
      '"k":1,',
      ' ',
      '\\u0001',
      'é',
      '[{"a":',
    ),
    times: fc.integer({ min: 1, max: 25_000 }),
    open: fc.constantFrom('', '[', '{"messages":[', '{"model":"sim-chat","messages":"'),
  })
  .map(({ unit, times, open }) => open + unit.repeat(times));
const broken = fc
  .record({ text: json(chat), at: fc.nat(200), put: fc.string({ maxLength: 4 }) })
  .map(({ text, at, put }) => text.slice(0, at) + put + text.slice(at + put.length));

const asked = fc.oneof(
  { weight: 20, arbitrary: fc.tuple(fc.constant(CHAT), json(plain)) },
  { weight: 20, arbitrary: fc.tuple(fc.constant(CHAT), json(chat)) },
  { weight: 8, arbitrary: fc.tuple(fc.constantFrom(CHAT, IMAGES, QUEUE, VIDEOS), broken) },
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constantFrom(CHAT, IMAGES, QUEUE, VIDEOS), json(fc.jsonValue())),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(CHAT, IMAGES, QUEUE, VIDEOS), long) },
  { weight: 2, arbitrary: fc.tuple(fc.constant(IMAGES), json(image)) },
  { weight: 4, arbitrary: fc.tuple(fc.constant(QUEUE), json(video)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant(VIDEOS), json(openAiVideo)) },
);

const place = fc.oneof(
  fc.constantFrom('/v1/models', '/healthz', '/readyz', '/', '/sign-in', '/openapi.json', '*'),
  fc.constantFrom(
    '/api/keys',
    '/api/account',
    '/api/ledger?limit=x',
    '/api/usage',
    '/api/accounts',
  ),
  fc.webPath().map((path) => `/api${path}`),
  fc.webPath().map((path) => `${QUEUE}/requests${path}`),
  fc.webPath().map((path) => `${VIDEOS}${path}`),
  fc.webQueryParameters().map((query) => `${VIDEOS}?limit=1&${query}`),
  fc.webPath().map((path) => `/v1/images/kept${path}`),
  fc.webPath(),
);

/** Any client's way to send, of a sound request and of one that is none. */
export function shots(secrets: Secrets): fc.Arbitrary<Shot> {
  const key = fc.constantFrom(secrets.rich, secrets.rich, secrets.other, secrets.poor, 'tg-wrong');
  const authorization = fc.oneof(
    { weight: 30, arbitrary: key.map((one) => `authorization: Bearer ${one}\r\n`) },
    { weight: 1, arbitrary: fc.constantFrom('', 'authorization: x\r\n', 'cookie: session=x\r\n') },
  );
  const extra = fc.oneof(
    { weight: 12, arbitrary: fc.constant('') },
    fc.nat(20).map((at) => `idempotency-key: k${at}\r\n`),
    fc.constantFrom('expect: 100-continue\r\n', 'connection: close\r\n', 'range: bytes=0-1\r\n'),
    fc.integer({ min: 1, max: 20_000 }).map((size) => `x-pad: ${'y'.repeat(size)}\r\n`),
  );
  const post = fc
    .record({
      asked,
      authorization,
      extra,
      off: fc.constantFrom(...Array<number>(30).fill(0), 1, -1),
    })
    .map(({ asked: [path, body], authorization: by, extra: more, off }) => {
      const length = Math.max(0, Buffer.byteLength(body) + off);
      const type = 'content-type: application/json\r\n';
      const head = `POST ${path} HTTP/1.1\r\nhost: x\r\n${by}${type}${more}`;
      return Buffer.from(`${head}content-length: ${length}\r\n\r\n${body}`);
    });
  const chunked = fc
    .record({ asked, authorization, size: fc.constantFrom('', '0', 'zz', ';x=y') })
    .map(({ asked: [path, body], authorization: by, size }) => {
      const type = 'content-type: application/json\r\ntransfer-encoding: chunked\r\n';
      const frame = `${Buffer.byteLength(body).toString(16)}${size}\r\n${body}\r\n0\r\n\r\n`;
      return Buffer.from(`POST ${path} HTTP/1.1\r\nhost: x\r\n${by}${type}\r\n${frame}`);
    });
  const get = fc
    .record({
      method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'DELETE', 'OPTIONS', 'PUT', 'CONNECT'),
      place,
      authorization,
      extra,
    })
    .map(({ method, place: path, authorization: by, extra: more }) =>
      Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: x\r\n${by}${more}\r\n`),
    );
  const garbage = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  const cut = fc.tuple(post, fc.double({ min: 0, max: 1, noNaN: true }));
  const bytes = fc.oneof(
    { weight: 60, arbitrary: post },
    { weight: 25, arbitrary: get },
    { weight: 4, arbitrary: chunked },
    { weight: 3, arbitrary: garbage },
    { weight: 3, arbitrary: fc.tuple(post, garbage).map((two) => Buffer.concat(two)) },
    { weight: 3, arbitrary: fc.tuple(post, get).map((two) => Buffer.concat(two)) },
    {
      weight: 2,
      arbitrary: cut.map(([whole, part]) => whole.subarray(0, Math.floor(whole.length * part))),
    },
  );
  const patience_ms = fc.constantFrom(...Array<number>(30).fill(PATIENT_MS), LEAVING_MS);
  return fc
    .record({ bytes, patience_ms })
    .map((shot) => (isWhole(shot.bytes) ? shot : brief(shot)));
}

const brief = ({ bytes }: Shot): Shot => ({ bytes, patience_ms: CUT_MS });

/** Near enough: a head that ends, and as much of a body as it says. */
function isWhole(bytes: Buffer): boolean {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.toString('latin1', 0, Math.max(end, 0));
  const length = Number(/content-length: (\d+)/u.exec(head)?.[1] ?? 0);
  return end >= 0 && bytes.length >= end + 4 + length;
}
