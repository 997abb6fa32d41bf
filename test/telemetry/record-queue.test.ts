import { expect } from 'chai';
import { pino } from 'pino';
import type { RequestRecord } from '../../src/core/request-record.js';
import { RecordQueue } from '../../src/telemetry/record-queue.js';
import { until } from '../helpers/until.js';
import { onEachStore } from '../store/helpers/ground.js';
import { recordAt } from '../store/requests/helpers.js';

const log = pino({ level: 'silent' });

onEachStore('the queue of records', (ground) => {
  const some = (count: number, rest: Partial<RequestRecord> = {}): RequestRecord[] =>
    Array.from({ length: count }, (_, at) =>
      recordAt(ground.now_ms + at, { is_kept: false, ...rest }),
    );

  it('writes what waits', async () => {
    const store = await ground.open();
    const queue = new RecordQueue({ store: store.requests, log, max: 1_000 });
    for (const record of some(700)) queue.take(record);
    await queue.close();
    expect(await store.requests.page({ limit: 1_000 })).to.have.length(700);
    expect([queue.waiting, queue.dropped]).to.deep.equal([0, 0]);
  });

  it('drops and counts those beyond its limit, and tells so once', async () => {
    const lines: { msg: string; dropped?: number }[] = [];
    const write = (line: string): void => void lines.push(JSON.parse(line) as (typeof lines)[0]);
    const store = await ground.open();
    const queue = new RecordQueue({ store: store.requests, log: pino({}, { write }), max: 100 });
    for (const record of some(130)) queue.take(record);
    expect([queue.waiting, queue.dropped]).to.deep.equal([100, 30]);
    await queue.close();
    expect(await store.requests.page({ limit: 1_000 })).to.have.length(100);
    expect(lines.map(({ msg, dropped }) => [msg, dropped])).to.deep.equal([
      ['records of requests were dropped', 30],
    ]);
  });

  it('writes what comes during a long roll-up before its end', async () => {
    const store = await ground.open();
    const { requests } = store;
    let waiting = Infinity;
    let steps = 0;
    const queue = new RecordQueue({
      store: {
        lost: 0,
        written: 0,
        add: (records) => requests.add(records),
        rollUp: async () => {
          steps += 1;
          if (steps === 1) for (const record of some(10)) queue.take(record);
          else waiting = Math.min(waiting, queue.waiting);
          return steps < 3;
        },
      },
      log,
      max: 1_000,
    });
    await queue.flush();
    expect(waiting).to.equal(0);
    await queue.close();
    expect(await requests.page({ limit: 1_000 })).to.have.length(10);
  });

  it('keeps records that a failing store has not taken, and writes them later', async () => {
    const store = await ground.open();
    let fails = true;
    const { requests } = store;
    const queue = new RecordQueue({
      store: {
        lost: 0,
        written: 0,
        rollUp: () => requests.rollUp(),
        add: (records) => (fails ? Promise.reject(new Error('away')) : requests.add(records)),
      },
      log,
      max: 1_000,
    });
    for (const record of some(600)) queue.take(record);
    await queue.flush();
    expect([queue.waiting, queue.dropped]).to.deep.equal([600, 0]);
    fails = false;
    await queue.close();
    expect(await requests.page({ limit: 1_000 })).to.have.length(600);
    expect(queue.dropped).to.equal(0);
  });
});

describe('the queue of records', () => {
  it('adds records to the totals that were written with their charges, and looks once more', async () => {
    let steps = 0;
    const rollUp = (): Promise<boolean> => {
      steps += 1;
      return Promise.resolve(false);
    };
    const store = { lost: 0, written: 0, add: () => Promise.resolve(), rollUp };
    const queue = new RecordQueue({ store, log, max: 10 });
    store.written = 3;
    await until(() => steps === 2, 'two steps of the roll-up');
    await queue.close();
  });
});
