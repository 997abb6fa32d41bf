import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { checkOrThrow, Gateway } from '../../src/gateway/gateway.js';
import { parseDollars } from '../../src/lib/money.js';
import { migrate } from '../../src/store/migrate.js';
import { MIGRATIONS, type Migration } from '../../src/store/migrations.js';
import { openStore } from '../../src/store/open.js';
import { until } from '../helpers/until.js';
import { chatJson, chatSse, play, startUpstream, type FakeUpstream } from '../helpers/upstream.js';
import { emptyPlace } from '../store/helpers/old-store.js';
import { onEachStore, type Ground } from '../store/helpers/ground.js';
import { serve, serveBy } from './helpers/gateway-process.js';
import { allChargeRows } from './helpers/mixed-books.js';
import { pricedYaml } from './helpers/priced-yaml.js';
import { INPUT_NANO, OUTPUT_NANO, dataOf } from './helpers/scripted-gateway.js';

/** The program of the release before, as `npm run test:upgrade` builds it. */
const PREVIOUS = process.env.TOLLGATE_TEST_PREVIOUS;
const CLIENTS = 4;
/** Answers between two steps of an upgrade. */
const ENOUGH = PREVIOUS === undefined ? 20 : 1_000;

/** What a release after this one may add. */
const LATER: readonly Migration[] = [
  {
    name: '900-added',
    kind: 'expands',
    effect: 'quick',
    up: async (trx) => {
      for (const name of ['ledger', 'requests', 'holds', 'accounts', 'keys', 'processes']) {
        await trx.schema.alterTable(name, (table) => void table.text('later'));
      }
    },
  },
  {
    name: '901-indexed',
    kind: 'expands',
    effect: 'beside_calls',
    steps: [
      { index: 'requests_later', on: 'requests (later, id)' },
      {
        fill: (trx, limit) => {
          const some = trx('requests').whereNull('later').limit(limit).select('id');
          return trx('requests')
            .whereIn('id', some)
            .where('time_ms', '<', 0)
            .update({ later: 'x' });
        },
      },
    ],
  },
];

/** An older program that has this option knows of contracts, and starts on a newer store. */
const DRY = '--dry-run';

interface Box {
  url: string;
  stop(): Promise<unknown>;
}

async function runPrevious(main: string, ...args: string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, [main, ...args])).stdout;
}

interface Answered {
  id: string;
  cost_nano: bigint;
}

/** Calls boxes until `stop`. A call that a box refuses goes to another one. */
function startLoad(boxes: () => readonly Box[], secret: string) {
  const answered: Answered[] = [];
  const statuses = new Set<number>();
  let isOver = false;
  const callOnce = async (turn: number): Promise<void> => {
    const stream = turn % 2 === 0;
    const all = boxes();
    const url = all[turn % all.length]?.url;
    const messages = [{ role: 'user', content: 'Hi' }];
    const options = stream ? { stream, stream_options: { include_usage: true } } : {};
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages, ...options }),
    });
    statuses.add(response.status);
    const text = await response.text();
    if (response.status !== 200) return;
    const last = stream ? dataOf(text).at(-2) : text;
    const { id, usage } = JSON.parse(last ?? '') as {
      id: string;
      usage: { prompt_tokens: number; completion_tokens: number };
    };
    const { prompt_tokens, completion_tokens } = usage;
    const cost_nano = BigInt(prompt_tokens) * INPUT_NANO + BigInt(completion_tokens) * OUTPUT_NANO;
    answered.push({ id: id.replace('chatcmpl-', ''), cost_nano });
  };
  const clients = Array.from({ length: CLIENTS }, async (_, at) => {
    for (let turn = at; !isOver; turn += 1) {
      // A box that has stopped refuses connections.
      await callOnce(turn).catch(() => undefined);
    }
  });
  return {
    more: async (what: string) => {
      const wanted = answered.length + ENOUGH;
      await until(() => answered.length >= wanted, `calls are answered ${what}`, 600_000);
    },
    end: async () => {
      isOver = true;
      await Promise.all(clients);
      return { answered, statuses };
    },
  };
}

onEachStore(
  'boxes that are upgraded one after another',
  (ground: Ground) => {
    let folder: string;
    let upstream: FakeUpstream;
    let config: string;
    const boxes: Box[] = [];

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'tollgate-upgrade-'));
      config = join(folder, 'gateway.yaml');
      upstream = await startUpstream(({ json }, response) => {
        const { stream } = json as { stream?: boolean };
        return play(stream ? chatSse(['one', ' two']) : chatJson('Hello'), response);
      });
      const { url: store } = ground.place;
      await writeFile(config, pricedYaml({ upstream: upstream.url, store, max_tokens: 100 }));
    });
    afterEach(async () => {
      for (const box of boxes.splice(0)) await box.stop();
      await upstream.close();
      await rm(folder, { recursive: true, force: true });
    });

    const startHere = async (): Promise<Box> => {
      const parts = { log: pino({ level: 'silent' }), now: Date.now, random: Math.random };
      const gateway = await Gateway.open(await checkOrThrow(config, {}), parts);
      const { port } = await gateway.listen();
      return { url: `http://127.0.0.1:${port}`, stop: () => gateway.stop() };
    };
    const startOld = (): Promise<Box> => (PREVIOUS ? serveBy([PREVIOUS], config) : startHere());
    const startNew = (): Promise<Box> => (PREVIOUS ? serve(config) : startHere());

    /** Without the program of the release before, this one plays its part. */
    async function bringNewRelease(): Promise<void> {
      if (PREVIOUS) boxes.push(await startNew());
      else await migrate(ground.place.url, { migrations: [...MIGRATIONS, ...LATER] });
    }

    async function replace(start: () => Promise<Box>): Promise<void> {
      const box = boxes.shift();
      expect(await box?.stop(), 'it ends in good order').to.be.oneOf([0, true]);
      boxes.push(await start());
    }

    /** An account of the release before, with a key. */
    async function makeCustomer(): Promise<string> {
      if (!PREVIOUS) {
        const store = await ground.open();
        const { id } = await store.createAccount('ann', parseDollars('100'));
        return (await store.createKey(id, 'load')).secret;
      }
      await runPrevious(
        PREVIOUS,
        'account',
        'create',
        'ann',
        '--credit',
        '100',
        '--config',
        config,
      );
      const options = ['--name', 'load', '--json', '--config', config];
      const said = await runPrevious(PREVIOUS, 'key', 'create', 'ann', ...options);
      return (JSON.parse(said) as { secret: string }).secret;
    }

    it('answer meanwhile, and each answer is one charge', async () => {
      if (PREVIOUS) await emptyPlace(ground.place);
      const secret = await makeCustomer();
      const isTwoWay =
        !PREVIOUS || (await runPrevious(PREVIOUS, 'migrate', '--help')).includes(DRY);
      boxes.push(await startOld(), await startOld());
      const load = startLoad(() => boxes, secret);
      await load.more('by the old release');
      await bringNewRelease();
      await load.more('by the old release on the store of the new one');
      if (isTwoWay) await replace(startOld);
      await load.more('by both');
      await replace(startNew);
      await load.more('by a new box');
      await replace(startNew);
      if (PREVIOUS) await replace(startNew);
      await load.more('by new boxes alone');
      const { answered, statuses } = await load.end();

      const store = await openStore(ground.place.url, { now: Date.now });
      const { id = '' } = (await store.account('ann')) ?? {};
      const rows = await allChargeRows(store, id);
      const { faults, open_holds } = await store.verify();
      await store.close();
      const charges = new Map(rows.map(({ reference, amount_nano }) => [reference, -amount_nano]));
      expect(rows, 'no call is charged twice').to.have.length(charges.size);
      expect(charges).to.deep.equal(new Map(answered.map((one) => [one.id, one.cost_nano])));
      expect({ faults, open_holds }).to.deep.equal({ faults: [], open_holds: 0 });
      expect([...statuses].filter((status) => ![200, 503].includes(status))).to.deep.equal([]);
      if (PREVIOUS) console.log(`${answered.length} answers, ${rows.length} charges`, statuses);
    }).timeout(900_000);
  },
  ['PostgreSQL'],
);
