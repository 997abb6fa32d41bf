import { expect } from 'chai';
import { ConfigError } from '../../src/config/config-error.js';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { ask, completionOf, errorOf, type Answer } from '../helpers/ask.js';

const yaml = `endpoints:
  strict: { at: "POST /v1/strict", stages: [auth, validate: ./strict.json, route: { capability: chat }, balance, transform: chat, meter] }
`;
const STRICT = JSON.stringify({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'strict',
  type: 'object',
  required: ['user'],
  properties: {
    model: { enum: ['acme-chat', 'acme-all'] },
    max_tokens: { maximum: 100 },
    user: { pattern: '^team-' },
    messages: { maxItems: 2 },
  },
  propertyNames: { not: { const: 'n' } },
});

describe("validate with an operator's own schema", () => {
  let acme: OpenaiGateway;
  const sound = {
    model: 'acme-chat',
    messages: [{ role: 'user', content: 'Hello!' }],
    user: 'team-1',
  };

  const strictly = (fields: object): Promise<Answer> =>
    ask(acme, '/v1/strict', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...sound, ...fields }),
    });

  before(async () => {
    acme = await startOpenaiGateway({ yaml }, { files: { 'strict.json': STRICT } });
  });
  after(() => acme.close());

  it('accepts a body that fits both schemas', async () => {
    completionOf(await strictly({ max_tokens: 100 }));
  });

  const refusals: [string, object, string | null][] = [
    ['what its schema requires', { user: undefined }, 'user'],
    ['what its schema bounds', { max_tokens: 101 }, 'max_tokens'],
    ['words outside its list', { model: 'acme-free' }, 'model'],
    ['a pattern', { user: 'someone' }, 'user'],
    [
      'a count',
      { messages: [...sound.messages, ...sound.messages, ...sound.messages] },
      'messages',
    ],
    ['what the shipped schema bounds', { temperature: 3 }, 'temperature'],
    ['what the shipped schema requires', { messages: undefined }, 'messages'],
  ];
  for (const [what, fields, param] of refusals) {
    it(`refuses what breaks ${what}`, async () => {
      const answer = await strictly(fields);
      expect(answer.status).to.equal(400);
      expect(errorOf(answer)).to.include({ code: 'invalid_request', param });
    });
  }

  const broken: [string, Record<string, string>][] = [
    ['is missing', {}],
    ['is not JSON', { 'strict.json': '{' }],
    ['is not a schema', { 'strict.json': '{"type":"strnig"}' }],
    ['points nowhere', { 'strict.json': '{"$ref":"#/$defs/nothing"}' }],
  ];
  for (const [what, files] of broken) {
    it(`is a fault at boot where the schema ${what}`, async () => {
      const error: unknown = await startOpenaiGateway({ yaml }, { files }).catch(
        (thrown: unknown) => thrown,
      );
      if (!(error instanceof ConfigError)) throw error;
      const faults = error.faults.filter(({ severity }) => severity === 'error');
      const [fault] = faults;
      expect(faults).to.have.length(1);
      expect(fault?.code).to.equal('stage_option');
      expect(fault?.message).to.include('"./strict.json"').and.to.include('endpoint "strict"');
      expect(fault?.message).not.to.match(/\n|\/tmp\//u);
    });
  }
});
