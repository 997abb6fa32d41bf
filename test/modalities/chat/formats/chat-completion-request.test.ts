import { expect } from 'chai';
import { chatRequest } from '../../../../src/modalities/chat/formats/chat-completion.js';
import { FREE, modelAt } from '../../../billing/helpers/terms.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { chat, errorOf } from '../../../helpers/ask.js';

const messages = [{ role: 'user', content: 'Hello!' }];
const tools = [{ type: 'function', function: { name: 'weather', parameters: {} } }];

const MODELS = `
  limited: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme }], limits: { max_tokens: 100 }, price: *paid }
  passing: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme }], passthrough: [seed, top_k], price: *paid }
  shaped:
    owner: acme
    capabilities: [chat]
    upstreams:
      - provider: acme
        model: acme-large
        set: { temperature: 0.2, cache: true }
        drop: [user]
        rename: { max_tokens: max_completion_tokens, stop: stop_sequences }
    price: *paid
`;

describe('a chat request as its upstream gets it', () => {
  let acme: OpenaiGateway;

  before(async () => {
    acme = await startOpenaiGateway({ models: MODELS });
  });
  after(() => acme.close());

  it('carries every field of the specification', async () => {
    const fields = {
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 64,
      stop: ['\n', 'END'],
      presence_penalty: -1,
      frequency_penalty: 1,
      user: 'user-1',
    };
    const answer = await chat(acme, { model: 'acme-chat', messages, n: 2, ...fields });
    expect(answer.headers.has('tollgate-ignored')).to.equal(false);
    expect(acme.sent()).to.deep.equal({
      model: 'acme-chat',
      messages,
      stream: false,
      n: 2,
      ...fields,
    });
  });

  const limits: { what: string; body: object; sent: number | undefined }[] = [
    { what: 'the client alone', body: { model: 'acme-chat', max_tokens: 9 }, sent: 9 },
    { what: 'the alias', body: { model: 'acme-chat', max_completion_tokens: 9 }, sent: 9 },
    { what: 'the model alone', body: { model: 'limited' }, sent: 100 },
    { what: 'both', body: { model: 'limited', max_tokens: 100 }, sent: 100 },
    { what: 'nobody, where it costs', body: { model: 'acme-chat' }, sent: 4096 },
    { what: 'nobody, where it is free', body: { model: 'acme-free' }, sent: undefined },
  ];
  for (const { what, body, sent } of limits) {
    it(`has the limit ${String(sent)} when set by ${what}`, async () => {
      await chat(acme, { messages, ...body });
      expect(acme.sent().max_tokens).to.equal(sent);
      expect(acme.sent()).not.to.have.property('max_completion_tokens');
    });
  }

  for (const param of ['max_tokens', 'max_completion_tokens']) {
    it(`has ${param} above the limit of the model cut to it, and named`, async () => {
      const answer = await chat(acme, { model: 'limited', messages, [param]: 101 });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('tollgate-adjusted')).to.equal(param);
      expect(acme.sent().max_tokens).to.equal(100);
      const exact = await chat(acme, { model: 'limited', messages, [param]: 100 });
      expect(exact.headers.get('tollgate-adjusted')).to.equal(null);
    });
  }

  const travels: { what: string; fields: object; model: string; ignored: string | null }[] = [
    {
      what: 'passthrough of the manifest',
      model: 'acme-chat',
      fields: { seed: 1, logit_bias: {} },
      ignored: null,
    },
    {
      what: 'passthrough of the model',
      model: 'passing',
      fields: { top_k: 3, seed: 0 },
      ignored: null,
    },
    {
      what: 'what neither names',
      model: 'acme-chat',
      fields: { top_k: 3, flavour: 'x' },
      ignored: 'top_k, flavour',
    },
    {
      what: 'tools, where there are none',
      model: 'acme-chat',
      fields: { tools, tool_choice: 'auto' },
      ignored: 'tools, tool_choice',
    },
    {
      what: 'tools',
      model: 'acme-all',
      fields: { tools, tool_choice: 'auto', parallel_tool_calls: false },
      ignored: null,
    },
    {
      what: 'fields that would raise the cost',
      model: 'acme-chat',
      fields: { service_tier: 'priority', web_search_options: {}, prediction: {} },
      ignored: 'service_tier, web_search_options, prediction',
    },
  ];
  for (const { what, model, fields, ignored } of travels) {
    it(`${ignored ? 'drops and names' : 'carries'} ${what}`, async () => {
      const answer = await chat(acme, { model, messages, ...fields });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('tollgate-ignored')).to.equal(ignored);
      for (const [name, value] of Object.entries(fields)) {
        expect(acme.sent()[name]).to.deep.equal(ignored ? undefined : value);
      }
    });
  }

  for (const [levels, status] of [
    [200, 200],
    [201, 400],
    [100_000, 400],
  ] as const) {
    it(`answers ${status} to a field of ${levels} levels`, async () => {
      const nested = '['.repeat(levels) + ']'.repeat(levels);
      const fields = `"model":"acme-chat","messages":${JSON.stringify(messages)}`;
      const answer = await chat(acme, `{${fields},"logit_bias":${nested},"unknown":${nested}}`);
      expect(answer.status).to.equal(status);
      // A body that is too large to be parsed at all names no field.
      const param = levels > 1_000 ? null : 'logit_bias';
      if (status === 400) expect(errorOf(answer).param).to.equal(param);
    });
  }

  it('names dropped fields in a header that no field name can break', async () => {
    const answer = await chat(acme, {
      model: 'acme-chat',
      messages,
      'a\r\nset-cookie: b': 1,
      日: 2,
    });
    expect(answer.headers.has('set-cookie')).to.equal(false);
    expect(answer.headers.get('tollgate-ignored')).to.equal('a??set-cookie??b, ?');
  });

  it('keeps that header short whatever is sent', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`field_${at}`, at]));
    const answer = await chat(acme, { model: 'acme-chat', messages, ...many });
    expect(answer.headers.get('tollgate-ignored'))
      .to.have.length.below(1_100)
      .and.match(/, \.\.\.$/u);
  });

  it('is shaped by set, drop and rename of the upstream', async () => {
    const fields = { temperature: 1, user: 'user-1', stop: 'END', max_tokens: 8 };
    const answer = await chat(acme, { model: 'shaped', messages, ...fields });
    expect(acme.sent()).to.deep.equal({
      model: 'acme-large',
      messages,
      stream: false,
      temperature: 0.2,
      cache: true,
      stop_sequences: 'END',
      max_completion_tokens: 8,
    });
    expect(answer.text).to.include('"model":"shaped"').and.not.to.include('acme-large');
  });

  it('asks for usage when it streams, whatever the client says of it', async () => {
    const stream_options = { include_usage: false, include_obfuscation: true };
    const answer = await chat(acme, { model: 'acme-chat', messages, stream: true, stream_options });
    expect(acme.sent().stream_options).to.deep.equal({ include_usage: true });
    const ignored = answer.headers.get('tollgate-ignored');
    expect(ignored).to.equal('stream_options.include_obfuscation');
  });

  it('carries the credentials of the provider and none of the client', async () => {
    const stray = { 'openai-organization': 'org-1', 'x-api-key': 'k', cookie: 'session=1' };
    await chat(acme, { model: 'acme-chat', messages }, stray);
    const headers = acme.upstream.requests.at(-1)?.headers ?? {};
    expect(headers.authorization).to.equal('Bearer sk-acme-secret');
    for (const name of Object.keys(stray)) expect(headers).not.to.have.property(name);
    expect(JSON.stringify(headers)).not.to.include(acme.secret);
  });
});

describe('how much a model thinks', () => {
  const asked = {
    reasoning_effort: 'high',
    thinking: { type: 'enabled', budget_tokens: 50 },
    reasoning: { effort: 'low' },
    enable_thinking: true,
  };
  const names = Object.keys(asked);
  const body = { model: 'm', messages: [{ role: 'user' as const, content: '' }], ...asked };

  it('travels to a model that lists it, counted as prompt', () => {
    const { call, size, ignored } = chatRequest(body, {
      ...modelAt([FREE]),
      passthrough: new Set(names),
    });
    expect(call.fields).to.deep.equal(asked);
    expect(ignored).to.deep.equal([]);
    const bytes = Object.values(asked).map((value) => JSON.stringify(value).length);
    expect(size.text_bytes).to.equal(bytes.reduce((sum, one) => sum + one));
  });

  it('is named as ignored by any other', () => {
    const { call, ignored } = chatRequest(body, modelAt([FREE]));
    expect(call.fields).to.deep.equal({});
    expect(ignored).to.deep.equal(names);
  });
});
