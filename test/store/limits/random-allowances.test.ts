import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import type { AllowanceWindow } from '../../../src/core/limits.js';
import { openStore } from '../../../src/store/open.js';
import type { AllowanceChange, AllowanceOwner } from '../../../src/store/limits/allowances.js';
import type { HoldResult, Store } from '../../../src/store/store-types.js';
import { isLong, SEED } from '../../helpers/long.js';
import { Allowances } from '../helpers/allowances.js';
import { chargeOf, onEachStore, type Ground } from '../helpers/ground.js';
import {
  CREDIT_NANO,
  LIMIT_NANO,
  PlainModel,
  type ChargeStep,
  type HoldStep,
  type Owner,
} from './allowance-model.js';
import { PlainCalendar } from './plain-calendar.js';

/** Histories that run side by side, so that their calls are committed together. */
const TOGETHER = 40;
const ROUNDS = 12;
const HISTORIES = Number(process.env.TOLLGATE_TEST_HISTORIES ?? (isLong ? 4_000 : 240));

const HOUR_MS = 3_600_000;
/** Zones whose clock changes on or near the first of a month, and the eve of such a change. */
const PLACES = [
  { zone: 'Europe/Zurich', from: '2026-10-24T20:00Z' },
  { zone: 'America/Havana', from: '2026-10-31T22:00Z' },
  { zone: 'America/New_York', from: '2026-10-31T20:00Z' },
  { zone: 'Africa/Cairo', from: '2026-10-29T12:00Z' },
  { zone: 'Australia/Lord_Howe', from: '2026-10-02T20:00Z' },
  { zone: 'America/Santiago', from: '2026-09-04T10:00Z' },
].map(({ zone, from }) => {
  const from_ms = Date.parse(from);
  return { zone, from_ms, calendar: new PlainCalendar(zone, from_ms - 70 * 24 * HOUR_MS) };
});

/** How the clock goes on before a round: by a time, or to just before or after a boundary. */
type Move = { by_ms: number } | { to: 'day' | 'month'; off_ms: number };

type Step =
  | { act: 'wait' }
  | { act: 'set'; owner: Owner; window: AllowanceWindow; amount: number | null }
  | { act: 'raise'; owner: Owner; window: AllowanceWindow; by: number; hours: number }
  | ({ act: 'hold' } & HoldStep)
  | { act: 'holds'; key: HoldStep['key']; amounts: [number, number, number] }
  | ({ act: 'charge' } & ChargeStep)
  | { act: 'charges'; key: HoldStep['key'] }
  | { act: 'release'; request: number }
  | { act: 'task'; request: number; is_charged: boolean };

type Upheaval = 'none' | 'lose' | 'recover';

const owner = fc.constantFrom<Owner>('account', 'key0', 'key1');
const key = fc.constantFrom<HoldStep['key']>('key0', 'key1');
const window = fc.constantFrom<AllowanceWindow>('day', 'week', 'month', '5h', '90m');
const amount = fc.integer({ min: 0, max: 40 });
const request = fc.nat({ max: 5 });
/** A request is of one key, also when it is charged. */
const keyed = fc.nat({ max: 5 }).map((one) => {
  return { request: one, key: one < 3 ? ('key0' as const) : ('key1' as const) };
});
const is = <T extends string>(act: T) => fc.constant(act);
const hold = fc
  .record({ act: is('hold'), keyed, amount, is_shaky: fc.boolean() })
  .map(({ keyed: one, ...rest }) => ({ ...rest, ...one }));
const charge = fc
  .record({
    act: is('charge'),
    keyed,
    cost: fc.integer({ min: 0, max: 80 }),
    is_named: fc.boolean(),
  })
  .map(({ keyed: one, ...rest }) => ({ ...rest, ...one }));
const set = fc.record({
  act: is('set'),
  owner,
  window,
  amount: fc.option(fc.integer({ min: 1, max: 120 }), { freq: 6 }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ act: is('wait') }),
  { arbitrary: hold, weight: 5 },
  { arbitrary: set, weight: 2 },
  fc.record({
    act: is('raise'),
    owner,
    window,
    by: fc.integer({ min: 0, max: 60 }),
    hours: fc.integer({ min: 1, max: 40 }),
  }),
  fc.record({ act: is('holds'), key, amounts: fc.tuple(amount, amount, amount) }),
  { arbitrary: charge, weight: 3 },
  fc.record({ act: is('charges'), key }),
  fc.record({ act: is('release'), request }),
  fc.record({ act: is('task'), request, is_charged: fc.boolean() }),
);

const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ by_ms: fc.integer({ min: 0, max: 1_000 }) }),
  fc.record({ by_ms: fc.integer({ min: 0, max: 6 * HOUR_MS }) }),
  fc.record({
    to: fc.constantFrom('day' as const, 'day' as const, 'month' as const),
    off_ms: fc.integer({ min: -2, max: 2 }),
  }),
);

const upheaval = fc.oneof(
  { arbitrary: fc.constant<Upheaval>('none'), weight: 12 },
  fc.constant<Upheaval>('lose'),
  fc.constant<Upheaval>('recover'),
);

const round = fc.record({ move, upheaval });
/** Most histories begin with some allowances. */
const history = fc
  .tuple(
    fc.array(set, { minLength: 2, maxLength: 2 }),
    fc.array(step, { minLength: ROUNDS - 2, maxLength: ROUNDS - 2 }),
  )
  .map(([first, rest]): Step[] => [...first, ...rest]);
const batch = fc.record({
  place: fc.nat({ max: PLACES.length - 1 }),
  rounds: fc.array(round, { minLength: ROUNDS, maxLength: ROUNDS }),
  histories: fc.array(history, { minLength: TOGETHER, maxLength: TOGETHER }),
});

/** An account of the store beside its model. */
interface History {
  model: PlainModel;
  ids: Record<Owner, string>;
  /** What the store said of the last hold of each request. */
  holds: Map<string, { windows: string | undefined; hold_nano: bigint }>;
  prefix: string;
  /** The requests that became tasks, which do nothing else. */
  tasks: Set<number>;
}

/** The processes of one zone on the store. */
interface World {
  ground: Ground;
  steady: Store;
  shaky: Store;
  zone: string;
  operator: Allowances;
}

function openIn({ ground, zone }: Pick<World, 'ground' | 'zone'>): Promise<Store> {
  const clocks = { now: () => ground.now_ms, elapsed_ms: () => ground.elapsed_ms };
  return openStore(ground.place.url, { ...clocks, time_zone: zone });
}

/** Makes the accounts of the histories, without the slower commands of an operator. */
async function makeAccounts(world: World): Promise<History[]> {
  const { ground } = world;
  const calendar = PLACES.find(({ zone }) => zone === world.zone)!.calendar;
  const batch_id = randomUUID();
  const all = Array.from({ length: TOGETHER }, (_, at): History => {
    const prefix = `${batch_id}.${at}`;
    const ids = { account: `acc_${prefix}`, key0: `k0_${prefix}`, key1: `k1_${prefix}` };
    return { model: new PlainModel(calendar), ids, holds: new Map(), prefix, tasks: new Set() };
  });
  const rows = (row: (history: History) => string): string => all.map(row).join(', ');
  await ground.place.sql(`
    delete from allowances; delete from contents; delete from tasks; delete from holds;
    delete from ledger; delete from keys; delete from accounts;
    insert into accounts (id, name, balance_nano, held_nano, created_ms)
      values ${rows(({ ids }) => `('${ids.account}', '${ids.account}', ${CREDIT_NANO}, 0, 0)`)};
    insert into ledger (account_id, kind, reference, amount_nano, estimated, created_ms)
      values ${rows(({ ids }) => `('${ids.account}', 'credit', 'c', ${CREDIT_NANO}, false, 0)`)};
    insert into keys (id, account_id, name, prefix, secret_sha256, created_ms, limit_nano)
      values ${rows(({ ids: { account, key0, key1 } }) => {
        const keyed = (id: string, limit: string) =>
          `('${id}', '${account}', 'k', 'tg', '${id}', 0, ${limit})`;
        return `${keyed(key0, 'null')}, ${keyed(key1, String(LIMIT_NANO))}`;
      })}`);
  return all;
}

function nextTime(now_ms: number, to: Move, calendar: PlainCalendar): number {
  if ('by_ms' in to) return now_ms + to.by_ms;
  return Math.max(now_ms, calendar.span(to.to, now_ms)[1] + to.off_ms);
}

/** The change of allowances that a step asks for, done to the model too. */
function changeOf(
  { model, ids }: History,
  step: Step,
  now_ms: number,
): [AllowanceOwner, string, AllowanceChange][] {
  if (step.act === 'set') {
    const amount_nano = step.amount === null ? null : BigInt(step.amount);
    model.set(step.owner, step.window, amount_nano);
    const change = { amounts: { [step.window]: amount_nano } };
    return [[kindOf(step.owner), ids[step.owner], change]];
  }
  if (step.act !== 'raise') return [];
  const by_nano = BigInt(step.by);
  const until_ms = now_ms + step.hours * HOUR_MS;
  if (!model.raise(step.owner, step.window, by_nano, until_ms)) return [];
  const change = { raise: { window: step.window, by_nano, until_ms } };
  return [[kindOf(step.owner), ids[step.owner], change]];
}

function kindOf(one: Owner): AllowanceOwner {
  return one === 'account' ? 'account' : 'key';
}

/** Runs the call of a step, and compares the answer with that of the model. */
async function call(world: World, history: History, step: Step): Promise<void> {
  const { now_ms } = world.ground;
  const { model, tasks } = history;
  if ('request' in step && step.act !== 'task' && tasks.has(step.request)) return;
  switch (step.act) {
    case 'hold':
      await compareHolds(world, history, [step]);
      return;
    case 'holds': {
      const from = 100 + model.named.size;
      const steps = step.amounts.map((one, at): HoldStep => {
        return { key: step.key, request: from + at, amount: one, is_shaky: false };
      });
      await compareHolds(world, history, steps);
      return;
    }
    case 'charge':
      await compareCharges(world, history, [step]);
      return;
    case 'charges': {
      const open = [...model.holds].filter(
        ([, { key: holder, process }]) => holder === step.key && process !== 'task',
      );
      const steps = open.map(([one, { amount_nano }]): ChargeStep => {
        const cost = Math.floor(Number(amount_nano) / 2);
        return { key: step.key, request: one, cost, is_named: true };
      });
      await compareCharges(world, history, steps);
      return;
    }
    case 'release':
      model.release(step.request);
      await world.steady.release(nameOf(history, step.request), history.ids.account);
      return;
    case 'task':
      await runTask(world, history, step, now_ms);
  }
}

function nameOf({ prefix }: History, one: number): string {
  return `${prefix}.r${one}`;
}

async function compareHolds(
  { steady, shaky, ground }: World,
  { model, ids, holds, prefix }: History,
  steps: readonly HoldStep[],
): Promise<void> {
  const predicted = steps.map((one) => model.hold(one, ground.now_ms));
  const take = async ({ key: holder, request: one, amount: asked, is_shaky }: HoldStep) => {
    const name = `${prefix}.r${one}`;
    const process = is_shaky ? shaky : steady;
    const taking = process.hold(name, ids.account, BigInt(asked), ids[holder]);
    const answer: HoldResult | 'refused' = await taking.catch(() => 'refused' as const);
    if (answer === 'refused' || !answer.admitted) return answer;
    holds.set(name, { windows: answer.windows, hold_nano: BigInt(asked) });
    return { admitted: true, counts: answer.windows !== undefined };
  };
  // PostgreSQL takes holds whose sum does not fit in any order.
  const fit = predicted.every((one) => isDeepStrictEqual(one, { admitted: true, counts: true }));
  const isOrdered = fit || steady.dialect === 'sqlite';
  const answers: unknown[] = isOrdered ? await Promise.all(steps.map(take)) : [];
  if (!isOrdered) for (const one of steps) answers.push(await take(one));
  expect(answers).to.deep.equal(predicted);
}

async function compareCharges(
  { steady, ground }: World,
  { model, ids, holds, prefix }: History,
  steps: readonly ChargeStep[],
): Promise<void> {
  const answers = await Promise.all(
    steps.map(({ key: holder, request: one, cost, is_named }) => {
      const name = `${prefix}.r${one}`;
      const { windows, hold_nano } = holds.get(name) ?? {};
      const own_charge = chargeOf(name, ids.account, BigInt(cost), { key_id: ids[holder] });
      if (is_named && hold_nano !== undefined) own_charge.hold_nano = hold_nano;
      if (is_named && windows !== undefined) own_charge.hold_windows = windows;
      return steady.charge(own_charge);
    }),
  );
  expect(answers).to.deep.equal(steps.map((one) => model.charge(one, ground.now_ms)));
}

const JOB = { count: 1, status: 'COMPLETED', state: {} } as const;

/** Hands a hold to a task, and fails or charges it, or leaves it open. */
async function runTask(
  { steady }: World,
  history: History,
  { request: one, is_charged }: Step & { act: 'task' },
  now_ms: number,
): Promise<void> {
  const { model, ids } = history;
  const id = nameOf(history, one);
  const found = model.holds.get(one);
  if (found?.process === 'task') {
    const { amount_nano } = found;
    if (!is_charged) {
      model.release(one);
      await steady.tasks.fail(id, 'no', now_ms + HOUR_MS);
      return;
    }
    await steady.tasks.accept(id, [], now_ms + HOUR_MS);
    const task = await steady.tasks.task(id);
    const due_ms = now_ms + HOUR_MS;
    const progress = { error: null, jobs: [JOB], places: [], due_ms };
    await steady.tasks.advance(task!, { status: 'COMPLETED', ...progress });
    const cost = Math.floor(Number(amount_nano) / 2);
    const cost_nano = BigInt(cost);
    const paid = { content_id: `c.${id}`, cost_nano, upstream_cost_nano: 1n, usage: '{}' };
    await steady.tasks.charge(id, paid);
    model.charge({ key: found.key, request: one, cost, is_named: false }, now_ms);
    return;
  }
  const isNew = found && !history.tasks.has(one) && !model.charged.has(one);
  if (!isNew || !model.beginTask(one)) return;
  history.tasks.add(one);
  const call = { resolution: '720p', duration_seconds: 8, generate_audio: true } as const;
  await steady.tasks.begin({
    id,
    account_id: ids.account,
    key_id: ids[found.key],
    model: 'veo',
    provider: 'lab',
    upstream_model: 'veo',
    price_nano: 1n,
    upstream_price_nano: 1n,
    fee_nano: 0n,
    upstream_fee_nano: 0n,
    call: { ...call, aspect_ratio: '16:9', sample_count: 1 },
    hold_nano: found.amount_nano,
    due_ms: now_ms + 1_000 * HOUR_MS,
  });
}

async function rise(world: World, all: readonly History[], what: Upheaval): Promise<void> {
  if (what === 'none') return;
  if (what === 'lose') {
    await world.shaky.close();
    world.shaky = await openIn(world);
    for (const { model } of all) model.lose();
    return;
  }
  const released = await world.steady.recover();
  const predicted = all.reduce((sum, { model }) => sum + model.recover(), 0);
  expect(released).to.equal(predicted);
}

async function compareAll({ steady, ground }: World, all: readonly History[]): Promise<void> {
  const accounts = new Map((await steady.accounts()).map((one) => [one.id, one]));
  const idsOf = (kind: AllowanceOwner): string[] =>
    all.flatMap(({ ids: { account, key0, key1 } }) =>
      kind === 'account' ? account : [key0, key1],
    );
  const states = new Map([
    ...(await steady.allowances('account', idsOf('account'))),
    ...(await steady.allowances('key', idsOf('key'))),
  ]);
  for (const { ids, model } of all) {
    const { balance_nano, held_nano } = model;
    expect(accounts.get(ids.account)).to.deep.include({ balance_nano, held_nano });
    for (const one of ['account', 'key0', 'key1'] as const) {
      const plain = model.allowances
        .filter((allowance) => allowance.owner === one)
        .map((allowance) => {
          const { owner: _of, ...state } = model.stateOf(allowance, ground.now_ms);
          const isOver = allowance.ends_ms <= ground.now_ms;
          const begins = isOver && /\d/u.test(state.window) ? { begins_ms: 0, ends_ms: 0 } : {};
          return { ...state, ...begins };
        });
      expect(states.get(ids[one]) ?? []).to.have.deep.members(plain);
    }
  }
  expect((await steady.verify()).faults).to.deep.equal([]);
}

onEachStore('any history of allowances', (ground, name) => {
  it('has the same result as a plain model', async () => {
    const worlds = new Map<string, World>();
    const operator = new Allowances(ground);
    const property = fc.asyncProperty(batch, async ({ place, rounds, histories }) => {
      const { zone, from_ms, calendar } = PLACES[place]!;
      const base = { ground, zone };
      const known = worlds.get(zone);
      const world = known ?? {
        ...base,
        steady: await openIn(base),
        shaky: await openIn(base),
        operator,
      };
      worlds.set(zone, world);
      const all = await makeAccounts(world);
      ground.now_ms = from_ms;
      for (const [at, { move: to, upheaval: what }] of rounds.entries()) {
        ground.now_ms = nextTime(ground.now_ms, to, calendar);
        const steps = all.map((one, which) => [one, histories[which]![at]!] as const);
        const changes = steps.flatMap(([one, taken]) => changeOf(one, taken, ground.now_ms));
        if (changes.length > 0) await operator.change(changes);
        await rise(world, all, what);
        const outcomes = await Promise.allSettled(
          steps.map(([one, taken]) => call(world, one, taken)),
        );
        for (const [which, outcome] of outcomes.entries()) {
          if (outcome.status === 'fulfilled') continue;
          const taken = histories[which]!.slice(0, at + 1).map((one) => JSON.stringify(one));
          throw new Error(`seed ${SEED}: ${String(outcome.reason)}, after ${taken.join('\n')}`);
        }
      }
      await compareAll(world, all);
      // A process that is lost in one batch holds nothing in the next.
      ground.now_ms = from_ms;
    });
    const runs = Math.ceil(HISTORIES / TOGETHER / (name === 'SQLite' ? 1 : 2));
    try {
      // The report of fast-check would print all histories, and take minutes to shrink them.
      const result = await fc.check(property, { numRuns: runs, seed: SEED, endOnFailure: true });
      if (result.failed) throw result.errorInstance;
    } finally {
      await operator.close();
      for (const { steady, shaky } of worlds.values()) {
        await steady.close();
        await shaky.close();
      }
    }
  });
});
