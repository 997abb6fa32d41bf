import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { chatJson, chatSse, play } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import {
  closeAndAudit,
  HELLO,
  HELLO_MAX_NANO,
  startScriptedGateway,
  type ScriptedGateway,
} from './helpers/scripted-gateway.js';

const CALLS = 200;

async function withSchema(base: string, use: (store: string) => Promise<void>): Promise<void> {
  const schema = `tollgate_${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client({ connectionString: base });
  await client.connect();
  await client.query(`create schema ${schema}`);
  const url = new URL(base);
  url.searchParams.set('options', `-c search_path=${schema}`);
  try {
    await use(url.href);
  } finally {
    await client.query(`drop schema ${schema} cascade`);
    await client.end();
  }
}

type Payer = 'the balance' | 'the limit of a key';

/** Every fourth call asks for a stream. The upstream waits until all callers are served or not. */
async function callAtOnce(
  store: string | undefined,
  payer: Payer,
  admitted: number,
): Promise<void> {
  let goOn = (): void => undefined;
  const hold = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const enough_nano = HELLO_MAX_NANO * BigInt(admitted) + HELLO_MAX_NANO - 1n;
  const credit_nano = payer === 'the balance' ? enough_nano : HELLO_MAX_NANO * BigInt(CALLS);
  const house = await startScriptedGateway(
    {
      up: ({ json }, response) => {
        const { stream } = json as { stream: boolean };
        return play({ ...(stream ? chatSse(['one']) : chatJson('Hello')), hold }, response);
      },
    },
    {
      credit: `0.${credit_nano.toString().padStart(9, '0')}`,
      ...(store && { store: JSON.stringify(store) }),
    },
  );
  try {
    const { store: books } = house.gateway;
    const terms = payer === 'the balance' ? {} : { limit_nano: enough_nano };
    const { key, secret } = await books.createKey(house.account.id, 'k', terms);
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    let refused = 0;
    const calls = Array.from({ length: CALLS }, async (_, at) => {
      const stream = at % 4 === 0;
      const response = await house.post({ ...HELLO, stream }, { headers });
      if (response.status === 402) refused += 1;
      return { status: response.status, text: await response.text() };
    });
    const arrived = (): number => house.upstream.requests.length + refused;
    await until(() => arrived() === CALLS, 'each call is refused or upstream');
    goOn();
    const answers = await Promise.all(calls);
    const spent_nano = await expectBooks(house, answers, admitted, credit_nano);
    const code = payer === 'the balance' ? 'insufficient_balance' : 'key_limit_reached';
    const told = answers.filter(({ text }) => text.includes(`"${code}"`));
    expect(told).to.have.length(CALLS - admitted);
    const listed = (await books.keys(house.account.id)).find(({ id }) => id === key.id);
    expect(listed?.spent_nano).to.equal(payer === 'the balance' ? 0n : spent_nano);
  } finally {
    goOn();
    await closeAndAudit(house);
  }
}

async function expectBooks(
  house: ScriptedGateway,
  answers: { status: number; text: string }[],
  admitted: number,
  credit_nano: bigint,
): Promise<bigint> {
  const { store } = house.gateway;
  const served = answers.filter(({ status }) => status === 200);
  expect(served).to.have.length(admitted);
  expect(answers.filter(({ status }) => status === 402)).to.have.length(CALLS - admitted);
  await house.settled();
  const charges = await house.charges();
  const charged = charges.map(({ reference }) => reference).toSorted();
  const ids = served.map(({ text }) => /"id":"chatcmpl-([^"]+)"/u.exec(text)?.[1] ?? '');
  expect(charged).to.deep.equal(ids.toSorted());
  const entries = await store.ledger(house.account.id, { limit: 1_000 });
  const sum = entries.reduce((total, { amount_nano }) => total + amount_nano, 0n);
  const spent = charges.reduce((total, { amount_nano }) => total - amount_nano, 0n);
  const account = await store.account(house.account.id);
  expect(account?.balance_nano)
    .to.equal(sum)
    .and.to.equal(credit_nano - spent);
  const amounts = charges.map(({ amount_nano }) => amount_nano);
  expect(amounts.every((amount) => amount === -4350n || amount === -1950n)).to.equal(true);
  return spent;
}

for (const payer of ['the balance', 'the limit of a key'] as const) {
  describe(`${CALLS} calls at once where ${payer} pays for k`, () => {
    const postgres = process.env.TOLLGATE_TEST_POSTGRES;

    for (const admitted of [1, 37, 150]) {
      it(`admits exactly ${admitted} on SQLite`, () => callAtOnce(undefined, payer, admitted));
    }

    if (!postgres) {
      it('admits as many on PostgreSQL: needs TOLLGATE_TEST_POSTGRES');
      return;
    }
    for (const admitted of [1, 37, 150]) {
      it(`admits exactly ${admitted} on PostgreSQL`, () =>
        withSchema(postgres, (store) => callAtOnce(store, payer, admitted)));
    }
  });
}
