import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { image } from '../../providers/openai-image.js';
import type { ImageCall, ImageReply } from '../../src/modalities/image/codec.js';
import { isRecord } from '../../src/lib/objects.js';
import type { Provider } from '../../src/core/provider.js';
import { classifyError } from '../../src/upstream/classify-error.js';
import { ask } from '../helpers/ask.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import {
  play,
  providerAt,
  startUpstream,
  upstreamAt,
  type FakeUpstream,
  type Received,
} from '../helpers/upstream.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import type { Upstream } from '../../src/core/model.js';

const CALL: ImageCall = {
  prompt: 'a kite',
  n: 2,
  size: undefined,
  quality: undefined,
  style: undefined,
  response_format: 'url',
  fields: {},
};
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const GONE = 'https://upstream.example.com';

function at(wire: Provider['wire'] = {}, more: Partial<Upstream> = {}): Upstream {
  return upstreamAt(providerAt(GONE, { wire }), { model: 'gpt-image-2', ...more });
}

function encoded(call: Partial<ImageCall>, upstream = at()): Record<string, unknown> {
  return image.encode({ ...CALL, ...call }, upstream).body;
}

function decoded(body: unknown): ImageReply {
  return image.decode(body, CALL, at());
}

function faultOf(body: unknown): string {
  try {
    decoded(body);
  } catch (error) {
    if (error instanceof UpstreamError) return error.fault;
    throw error;
  }
  throw new Error('There was no fault.');
}

const sized = (size: string): { width: number; height: number } => {
  const [width = 0, height = 0] = size.split('x').map(Number);
  return { width, height };
};

describe('an image asked for over the images wire', () => {
  it('is asked for by model, prompt and count alone, without response_format or style (quirk 26)', () => {
    const body = encoded({ style: 'vivid', response_format: 'b64_json' });
    expect(body).to.deep.equal({ model: 'gpt-image-2', prompt: 'a kite', n: 2 });
    expect(image.encode(CALL, at()).path).to.equal('');
  });

  for (const [ours, theirs, older] of [
    ['standard', 'medium', 'standard'],
    ['hd', 'high', 'hd'],
    ['low', 'low', 'standard'],
    ['medium', 'medium', 'standard'],
    ['high', 'high', 'hd'],
    ['auto', 'auto', undefined],
  ] as const) {
    it(`is of quality ${theirs} for ${ours}, and of ${older ?? 'none'} in the older fields`, () => {
      expect(encoded({ quality: ours }).quality).to.equal(theirs);
      expect(encoded({ quality: ours }, at({ image_wire: 'dall-e' })).quality).to.equal(older);
    });
  }

  it('leaves its size to the upstream where the client does, in the word of each wire', () => {
    expect(encoded({ any_size: true }).size).to.equal('auto');
    expect(encoded({ any_size: true }, at({ image_wire: 'dall-e' }))).not.to.have.property('size');
  });

  for (const [ours, theirs] of [
    ['1024x1024', '1024x1024'],
    ['256x256', '1024x1024'],
    ['512x512', '1024x1024'],
    ['1792x1024', '1536x1024'],
    ['1024x1792', '1024x1536'],
    ['1536x1024', '1536x1024'],
    ['1024x1536', '1024x1536'],
  ] as const) {
    it(`is of ${theirs} for ${ours}, unless sizes are free`, () => {
      const size = sized(ours);
      expect(encoded({ size }).size).to.equal(theirs);
      expect(encoded({ size }, at({ free_sizes: true })).size).to.equal(ours);
      expect(encoded({ size }, at({ image_wire: 'dall-e' })).size).to.equal(ours);
    });
  }

  it('is asked for with the older fields where the manifest says so', () => {
    const body = encoded({ style: 'vivid', n: 1 }, at({ image_wire: 'dall-e' }));
    expect(body).to.deep.equal({
      model: 'gpt-image-2',
      prompt: 'a kite',
      n: 1,
      style: 'vivid',
      response_format: 'b64_json',
    });
  });

  it('carries what may pass, is dropped, renamed or set, but nothing that is fixed', () => {
    const fields = { background: 'opaque', output_format: 'webp', user: 'me', stream: true, n: 9 };
    const upstream = at(
      {},
      {
        drop: ['user'],
        rename: { output_format: 'format' },
        set: { moderation: 'low', n: 10, response_format: 'url', model: 'dearer' },
      },
    );
    expect(encoded({ fields }, upstream)).to.deep.equal({
      model: 'gpt-image-2',
      prompt: 'a kite',
      n: 2,
      background: 'opaque',
      format: 'webp',
      moderation: 'low',
    });
  });
});

describe('an image that comes over the images wire', () => {
  it('is base64 or an address, with a revised prompt where there is one', () => {
    const data = [
      { b64_json: 'QUJD', revised_prompt: 'a red kite' },
      { url: 'https://pictures.example.com/1.png', b64_json: null },
    ];
    expect(decoded({ created: 1, data }).images).to.deep.equal([
      { b64_json: 'QUJD', revised_prompt: 'a red kite' },
      { url: 'https://pictures.example.com/1.png' },
    ]);
  });

  for (const [usage, told] of [
    [
      { input_tokens: 9, output_tokens: 1_056, total_tokens: 1_065 },
      { prompt_tokens: 9, completion_tokens: 1_056 },
    ],
    [
      { prompt_tokens: 3, completion_tokens: 4 },
      { prompt_tokens: 3, completion_tokens: 4 },
    ],
    [
      {
        input_tokens: 9,
        input_tokens_details: { text_tokens: 4, image_tokens: 5 },
        output_tokens: 50,
        output_tokens_details: { text_tokens: 10, image_tokens: 40 },
      },
      {
        prompt_tokens: 9,
        completion_tokens: 50,
        prompt_tokens_details: { text_tokens: 4, image_tokens: 5 },
        completion_tokens_details: { text_tokens: 10, image_tokens: 40 },
      },
    ],
    [
      {
        prompt_tokens: 9,
        completion_tokens: 50,
        prompt_tokens_details: { image_tokens: 5 },
        completion_tokens_details: null,
      },
      { prompt_tokens: 9, completion_tokens: 50, prompt_tokens_details: { image_tokens: 5 } },
    ],
    [undefined, undefined],
  ] as const) {
    it(`costs ${JSON.stringify(told)} for ${JSON.stringify(usage)}`, () => {
      expect(decoded({ data: [{ b64_json: 'QUJD' }], usage }).usage).to.deep.equal(told);
    });
  }

  for (const [body, fault] of [
    [{ data: [] }, 'broken'],
    [{}, 'broken'],
    ['text', 'broken'],
    [{ data: [{ b64_json: '' }] }, 'broken'],
    [{ data: [{ url: 'file:///etc/passwd' }] }, 'broken'],
    [{ error: { message: 'No.', code: 'moderation_blocked' } }, 'policy'],
  ] as const) {
    it(`is ${fault} in ${JSON.stringify(body)}`, () => {
      expect(faultOf(body)).to.equal(fault);
    });
  }

  for (const [error, fault] of [
    [{ type: 'image_generation_user_error', code: 'moderation_blocked' }, 'policy'],
    [{ type: 'invalid_request_error', code: 'content_policy_violation' }, 'policy'],
    [{ type: 'image_generation_user_error', code: 'invalid_image_file' }, 'rejected'],
    [{ type: 'invalid_request_error', code: 'unknown_parameter' }, 'rejected'],
  ] as const) {
    it(`is missed as ${fault} where the code is ${error.code}`, () => {
      const body = JSON.stringify({ error: { message: 'No.', param: null, ...error } });
      expect(classifyError(400, {}, body).fault).to.equal(fault);
    });
  }
});

/** Answers as GPT image models do, and refuses the fields that they refuse. */
function gptImages(received: Received, response: ServerResponse): Promise<void> {
  const body = isRecord(received.json) ? received.json : {};
  const banned = ['response_format', 'style'].find((name) => name in body);
  const headers = { 'content-type': 'application/json' };
  if (banned !== undefined) {
    const error = { message: `Unknown parameter: '${banned}'.`, code: 'unknown_parameter' };
    return play({ status: 400, headers, body: JSON.stringify({ error }) }, response);
  }
  const data = Array.from({ length: Number(body.n) }, () => ({ b64_json: PIXEL }));
  const usage = { input_tokens: 9, output_tokens: 100, total_tokens: 109 };
  return play({ headers, body: JSON.stringify({ created: 1, data, usage }) }, response);
}

describe('images of a GPT image model', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  beforeEach(async () => {
    upstream = await startUpstream(gptImages);
    gateway = await startGateway(`owners: { o: { name: O } }
providers: { openai: { api_key: sk-test-0123456789, base_url: "${upstream.url}/v1" } }
models:
  painter:
    owner: o
    capabilities: [image]
    upstreams: [{ provider: openai, model: gpt-image-2 }]
    price: { per_image: 0.04 }
`);
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  for (const response_format of ['url', 'b64_json'] as const) {
    it(`come as ${response_format} where that is asked for (quirk 26)`, async () => {
      const wanted = { model: 'painter', prompt: 'a kite', n: 2, style: 'vivid', response_format };
      const { status, text } = await ask(gateway, '/v1/images/generations', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(wanted),
      });
      expect(status, text).to.equal(200);
      const { data, usage } = JSON.parse(text) as { data: Record<string, string>[]; usage: object };
      expect(data).to.have.length(2);
      for (const one of data) expect(one).to.have.all.keys(response_format, 'revised_prompt');
      expect(usage).to.include({ prompt_tokens: 9, completion_tokens: 100, total_tokens: 109 });
      expect(upstream.requests.map(({ path }) => path)).to.deep.equal(['/v1/images/generations']);
    });
  }
});
