import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { ask, errorOf, type Answer } from '../../../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { FIELDS, GOOD, type Row } from './responses-fields.js';

const MODELS = `
  every: { owner: acme, capabilities: [chat, vision, audio, tools, file], upstreams: [{ provider: acme }], price: *paid, passthrough: [reasoning_content] }`;
const SCHEMA = new URL('../../../../schemas/responses.schema.json', import.meta.url);

describe('a field of POST /v1/responses', () => {
  let acme: OpenaiGateway;
  const rows: string[] = [];
  before(async () => {
    acme = await startOpenaiGateway({ models: MODELS });
  });
  after(async () => {
    await acme.close();
    console.log(['', ...rows, ''].join('\n'));
  });

  const post = (row: Row): Promise<Answer> =>
    ask(acme, '/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...GOOD, model: 'every', ...row.body }),
    });

  function expectFate({ fate, field, param, sent, answer }: Row, got: Answer): void {
    if (fate === 'refused') {
      expect([got.status, errorOf(got).param]).to.deep.equal([400, param]);
      return;
    }
    expect(got.status, got.text).to.equal(200);
    const named = got.headers.get('tollgate-ignored')?.split(', ') ?? [];
    expect(named).to.deep.equal(fate === 'ignored and named' ? [param ?? field] : []);
    if (sent) expect(acme.sent()).to.deep.include(sent);
    if (answer) expect(JSON.parse(got.text)).to.deep.include(answer);
  }

  for (const row of FIELDS) {
    const { fate, field, what = '' } = row;
    const about = what === '' ? field : `${field}, ${what}`;
    it(`${about}: ${fate}`, async () => {
      expectFate(row, await post(row));
      rows.push(`    ${about.padEnd(56)} ${fate}`);
    });
  }

  it('stands in the table where the schema names it', () => {
    const { properties } = JSON.parse(readFileSync(SCHEMA, 'utf8')) as { properties: object };
    const told = new Set(FIELDS.map(({ field }) => field.split(/[.[]/u)[0]));
    expect([...told]).to.include.members(Object.keys(properties));
  });
});
