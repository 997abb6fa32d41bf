import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseDollars } from '../../src/lib/money.js';
import { openStore } from '../../src/store/open.js';
import type { Store } from '../../src/store/store-types.js';
import { chatJson, chatSse, play, startUpstream } from '../helpers/upstream.js';
import { allChargeRows } from '../money/helpers/mixed-books.js';
import { ready } from '../money/helpers/scripted-gateway.js';
import { Boxes, startBalancer } from './boxes.js';
import { PacedClients, type Payer } from './paced-clients.js';

/** Calls before a disturbance begins, and after it is over. */
const CALM_MS = 1_500;
/** Enough for some forty calls; the hold of a call is half of it. */
const POOR_CREDIT_NANO = 150_000n;
const POOR = 3;
/** Clients that order videos. */
const VIDEOS = 2;

/** What a disturbance may do. */
export interface Scene {
  boxes: Boxes;
  /** How many boxes there are. */
  count: number;
  /** How long it may take. */
  ms: number;
}

/** A store of a case, until it is closed. */
export interface Stage {
  url: string;
  /** Where the books are read afterwards, if not there. */
  books_url?: string;
  disturb(scene: Scene): Promise<void>;
  close(): Promise<void>;
}

export interface Case {
  name: string;
  /** What happens, for the report. */
  story: string;
  /** Charges may be lost, as the documentation says. */
  may_lose?: true;
  boxes: number;
  args?: readonly string[];
  /** The program that the boxes begin with. */
  main?: string;
  begin(): Promise<Stage>;
}

/** What came of a case. */
export interface Outcome {
  answers: number;
  charges: number;
  lost: number;
  doubled: number;
  overspent: number;
  longest_refusal_ms: number;
  statuses: ReadonlyMap<string, number>;
  /** What must not be, in words. */
  faults: string[];
}

async function openAccounts(store: Store): Promise<Payer[]> {
  const open = async (name: string, credit: bigint, clients: number): Promise<Payer> => {
    const { id } = await store.createAccount(name, credit);
    const { secret } = await store.createKey(id, 'k');
    const is_poor = clients === 2;
    return { account_id: id, secret, clients, videos: is_poor ? 0 : VIDEOS, is_poor };
  };
  const rich = await open('rich', parseDollars('1000'), 8);
  const names = Array.from({ length: POOR }, (_, at) => `poor-${at}`);
  const poor = await Promise.all(names.map((name) => open(name, POOR_CREDIT_NANO, 2)));
  return [rich, ...poor];
}

/** The session of somebody at the dashboard of the first account. */
async function signIn({ sign_in }: Store, [payer]: readonly Payer[]): Promise<string> {
  const account_id = payer?.account_id ?? '';
  return sign_in.createSession({ account_id, email: null, via: 'link', operator: false });
}

/** Plays a case, and compares what the clients were answered with the books. */
export async function runCase(one: Case, seconds: number): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-chaos-'));
  const upstream = await startUpstream(async ({ json }, response) => {
    await pause(Math.random() * 300);
    const { stream } = json as { stream?: boolean };
    await play(stream ? chatSse(['one', ' two']) : chatJson('Hello'), response);
  });
  const stage = await one.begin();
  const { url, books_url = url } = stage;
  const boxes = new Boxes({ folder, upstream: upstream.url, store: url, args: one.args ?? [] });
  try {
    await boxes.start(0, one.main);
    for (let at = 1; at < one.boxes; at += 1) await boxes.start(at, one.main);
    const store = await openStore(books_url, { now: Date.now });
    const payers = await openAccounts(store);
    const session = await signIn(store, payers).finally(() => store.close());
    const balancer = await startBalancer(boxes);
    const clients = new PacedClients(balancer, payers, session);
    await pause(CALM_MS);
    await stage.disturb({ boxes, count: one.boxes, ms: seconds * 1_000 });
    await Promise.all(boxes.running.map(ready));
    await pause(CALM_MS);
    await clients.stop();
    await Promise.all(boxes.running.map(ready));
    balancer.close();
    await boxes.stop();
    return await judge(one, clients, payers, books_url, boxes.exits);
  } finally {
    await boxes.kill();
    await stage.close();
    await upstream.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function judge(
  { may_lose }: Case,
  { answered, forgotten, statuses, longest_refusal_ms, faults: seen }: PacedClients,
  payers: readonly Payer[],
  url: string,
  exits: readonly unknown[],
): Promise<Outcome> {
  const store = await openStore(url, { now: Date.now });
  try {
    const charged = new Map<string, bigint[]>();
    let overspent = 0;
    for (const { account_id, is_poor } of payers) {
      let left = is_poor ? POOR_CREDIT_NANO : parseDollars('1000');
      for (const { reference, amount_nano } of await allChargeRows(store, account_id)) {
        charged.set(reference, [...(charged.get(reference) ?? []), -amount_nano]);
        left += amount_nano;
      }
      if (left < 0n || (await store.account(account_id))?.balance_nano !== left) overspent += 1;
    }
    const sumOf = (id: string): bigint => (charged.get(id) ?? []).reduce((a, b) => a + b, 0n);
    const short = answered.filter(({ id, cost_nano }) => sumOf(id) < cost_nano).length;
    const lost = short + forgotten;
    const dear = answered.filter(({ id, cost_nano }) => sumOf(id) > cost_nano);
    const twice = [...charged].filter(([, amounts]) => amounts.length > 1).map(([id]) => id);
    const doubled = new Set([...dear.map(({ id }) => id), ...twice]).size;
    const { faults: broken } = await store.verify();
    const faults = [
      ...(lost > 0 && may_lose !== true
        ? [`${short} answers were not charged, ${forgotten} videos never came`]
        : []),
      ...(doubled > 0 ? [`${doubled} answers were charged too much`] : []),
      ...(overspent > 0 ? [`${overspent} accounts are not what their charges say`] : []),
      ...seen,
      ...(exits.some((code) => code !== 0) ? [`boxes ended with ${exits.join(', ')}`] : []),
      ...broken.map((fault) => `verify: ${JSON.stringify(fault)}`),
    ];
    const charges = charged.size;
    const answers = answered.length;
    return {
      answers,
      charges,
      lost,
      doubled,
      overspent,
      longest_refusal_ms,
      statuses,
      faults,
    };
  } finally {
    await store.close();
  }
}
