import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { check } from '../../src/gateway/check.js';
import { EXAMPLE_ENDPOINT, contracts, type Contract } from './helpers/stage-contracts.js';
import { checkPipelines } from '../../src/pipeline/type-check.js';
import type { Money, Stage } from '../../src/pipeline/stage.js';
import { ask, errorOf, type Answer } from '../helpers/ask.js';
import { codeIn, documentAt, tableOf } from '../helpers/documents.js';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';

const PAGE = 'docs/stages.md';

function codes(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/gu)].map(([, code = '']) => code);
}

function factOf(need: string): string {
  return need.split(':', 1)[0] ?? need;
}

describe('the contracts of docs/stages.md', () => {
  const known = contracts();

  it('are those of every shipped stage and operation', () => {
    const told = tableOf(PAGE, 'in gateway.yaml').rows.map(
      ([entry, needs, gives, precedes, money]): Contract => ({
        entry: codeIn(entry),
        needs: codes(needs),
        gives: codes(gives),
        precedes: codes(precedes),
        money: codeIn(money),
      }),
    );
    expect(told).to.deep.equal(known);
  });

  it('name every fact, and the stages that give it', () => {
    const givers = new Map<string, Set<string>>();
    for (const { entry, gives } of known) {
      for (const fact of gives.map(factOf)) {
        givers.set(fact, (givers.get(fact) ?? new Set()).add(factOf(entry)));
      }
    }
    const told = tableOf(PAGE, 'fact').rows.map(([fact, by]) => [codeIn(fact), codes(by)] as const);
    expect(told.map(([fact]) => fact)).to.have.members([...givers.keys()]);
    for (const [fact, by] of told) expect(by, fact).to.have.members([...(givers.get(fact) ?? [])]);
  });

  it('say what each effect on money needs before and after it', () => {
    const { rows } = tableOf(PAGE, 'money');
    const effects = new Set(known.map(({ money }) => money).filter((money) => money !== ''));
    expect(rows.map(([money]) => codeIn(money))).to.have.members([...effects]);
    for (const [money, , needs = ''] of rows) {
      const shape = { needs: [], gives: [], money: codeIn(money) as Money };
      const stage: Stage = { name: 'own', shape, create: () => (_ctx, next) => next() };
      const faults = checkPipelines([EXAMPLE_ENDPOINT], new Map([['own', stage]]));
      const found = faults.map(({ code }) => code);
      expect(found.includes('no_hold'), money).to.equal(needs.includes('before'));
      expect(found.includes('no_meter'), money).to.equal(needs.includes('after'));
    }
  });
});

describe('the stage that docs/stages.md writes', () => {
  let acme: OpenaiGateway;

  before(async () => {
    const { blocks } = documentAt(PAGE);
    const names = ['plugins/max-messages.js', 'plugins/mask-email.js'];
    const files = Object.fromEntries(
      names.map((name) => [
        name.replace('plugins/', ''),
        blocks.find(({ info }) => info === name)?.text ?? '',
      ]),
    );
    const yaml = blocks
      .filter(({ language, text }) => language === 'yaml' && text.includes('./plugins/'))
      .map(({ text }) => text.replace(/^endpoints:\n/u, '').replace('./plugins/', './'))
      .join('\n')
      .replace('.js: 50', '.js: 3');
    acme = await startOpenaiGateway({ yaml: `endpoints:\n${yaml}` }, { files });
  });
  after(() => acme.close());

  function say(messages: number, more: object = {}): Promise<Answer> {
    const one = { role: 'user', content: 'I am ann@example.com' };
    const body = { model: 'acme-all', messages: Array.from({ length: messages }, () => one) };
    return ask(acme, '/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': `of ${messages}` },
      body: JSON.stringify({ ...body, ...more }),
    });
  }

  it('changes answers, and leaves repeated and streamed ones as they are', async () => {
    for (const replayed of [null, 'true']) {
      const answer = await say(2);
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers.get('x-messages-left')).to.equal('1');
      expect(answer.headers.get('idempotent-replayed')).to.equal(replayed);
      const { messages_left } = JSON.parse(answer.text) as { messages_left?: number };
      expect(messages_left).to.equal(replayed === null ? 1 : undefined);
    }
    const stream = await say(1, { stream: true });
    expect(stream.headers.get('x-messages-left')).to.equal('2');
    expect(stream.text).to.include('[DONE]').and.not.include('messages_left');
  });

  it('refuses a long conversation before anything is sent', async () => {
    const sent = acme.upstream.requests.length;
    const answer = await say(4);
    expect(answer.status).to.equal(400);
    expect(errorOf(answer).message).to.equal('A conversation may have 3 messages here.');
    expect(acme.upstream.requests).to.have.length(sent);
  });

  it('masks addresses, where it stands behind every validate', async () => {
    await say(3);
    expect(JSON.stringify(acme.sent().messages)).to.include('[email]').and.not.include('ann@');
  });

  it('tells of a wrong option', async () => {
    const file = join(acme.folder, 'wrong.yaml');
    const text = await readFile(acme.file, 'utf8');
    await writeFile(file, text.replace('max-messages.js: 3', 'max-messages.js: many'));
    const { faults } = await check(file, {});
    const errors = faults.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ message }) => message)).to.deep.equal([
      'stage "./max-messages.js" of endpoint "chat": its option is a number of messages, such as 50',
    ]);
  });
});
