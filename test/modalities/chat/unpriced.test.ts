import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../../helpers/openai-gateway.js';
import { chat, errorOf } from '../../helpers/ask.js';

const messages = [{ role: 'user', content: 'Hello!' }];
const weather = { type: 'function', function: { name: 'weather', parameters: {} } };

const MODELS = `
  searching:
    owner: acme
    capabilities: [chat, tools]
    upstreams: [{ provider: acme }]
    tool_types: [browser_search]
    price: *paid
  renaming:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: acme, rename: { max_tokens: max_completion_tokens } }]
    price: *paid
`;

/** [what, fields beside a sound request, param, code] */
const REFUSED: [string, object, string, string][] = [
  [
    'a choice of a tool that the upstream would run',
    { tools: [weather, { type: 'web_search' }], tool_choice: { type: 'web_search' } },
    'tool_choice',
    'unsupported_capability',
  ],
  [
    'any tool demanded, where only the upstream would run one',
    { tools: [{ type: 'web_search' }], tool_choice: 'required' },
    'tool_choice',
    'invalid_request',
  ],
  ['a tool of no type', { tools: [{ type: '' }] }, 'tools[0].type', 'invalid_request'],
  ['a tool without a type', { tools: [{ google_search: {} }] }, 'tools[0].type', 'invalid_request'],
  ['a tool whose type is no text', { tools: [{ type: 1 }] }, 'tools[0].type', 'invalid_request'],
];

describe('a chat request for a paid feature without a price', () => {
  let acme: OpenaiGateway;
  before(async () => {
    acme = await startOpenaiGateway({ models: MODELS });
  });
  after(() => acme.close());

  const balance = async (): Promise<bigint | undefined> =>
    (await acme.gateway.store.account(acme.account.id))?.balance_nano;

  for (const [what, fields, param, code] of REFUSED) {
    for (const stream of [false, true]) {
      it(`is refused with ${what}${stream ? ', streamed' : ''}, and goes nowhere`, async () => {
        const [sent, owned] = [acme.upstream.requests.length, await balance()];
        const answer = await chat(acme, { model: 'searching', messages, stream, ...fields });
        expect(answer.status).to.equal(400);
        expect(errorOf(answer)).to.include({ code, param });
        expect(acme.upstream.requests).to.have.length(sent);
        expect(await balance()).to.equal(owned);
      });
    }
  }

  it('says which tool is demanded in vain', async () => {
    const type = 'x-ray'.repeat(100);
    const asked = { model: 'searching', messages, tools: [{ type }], tool_choice: { type } };
    const { message } = errorOf(await chat(acme, asked));
    expect(message)
      .to.match(/^tool_choice demands "x-ray.* searching does not take it\.$/u)
      .and.have.length.below(200);
  });

  it('calls a function that has the name of a tool that the upstream would run', async () => {
    const named = { type: 'function', function: { name: 'web_search', parameters: {} } };
    const tool_choice = { type: 'function', function: { name: 'web_search' } };
    const tools = [{ type: 'web_search' }, named];
    const answer = await chat(acme, { model: 'searching', messages, tools, tool_choice });
    expect(answer.status, answer.text).to.equal(200);
    expect(acme.sent()).to.deep.include({ tools: [named], tool_choice });
  });

  it('is accepted with tools of a type that the model lists', async () => {
    const tools = [weather, { type: 'browser_search', depth: 2 }];
    const answer = await chat(acme, { model: 'searching', messages, tools });
    expect(answer.status).to.equal(200);
    expect(acme.sent().tools).to.deep.equal(tools);
  });

  it('sends one limit of output where the client writes it twice', async () => {
    const limits = { max_tokens: 9, max_completion_tokens: 9 };
    const asking = (fields: object) => chat(acme, { model: 'renaming', messages, ...fields });
    expect((await asking(limits)).status).to.equal(200);
    expect(acme.sent())
      .to.include({ max_completion_tokens: 9 })
      .and.not.have.property('max_tokens');
    const refused = await asking({ ...limits, max_completion_tokens: 10 });
    expect(errorOf(refused).param).to.equal('max_completion_tokens');
  });

  it('is accepted with null in an unused field', async () => {
    const fields = { functions: null, function_call: null };
    const said = [...messages, { role: 'assistant', content: 'Hi.', function_call: null }];
    const answer = await chat(acme, { model: 'acme-all', messages: said, ...fields });
    expect(answer.status).to.equal(200);
    expect(acme.sent()).not.to.have.any.keys('functions', 'function_call');
  });

  it('has what the contract does not name left out of a tool, and named', async () => {
    const tools = [
      { ...weather, cache_control: { type: 'ephemeral' }, google_search: {} },
      weather,
    ];
    const answer = await chat(acme, { model: 'acme-all', messages, tools });
    expect(answer.status).to.equal(200);
    expect(acme.sent().tools).to.deep.equal([weather, weather]);
    expect(answer.headers.get('tollgate-ignored')).to.equal(
      'tools[].google_search, tools[].cache_control',
    );
  });
});
