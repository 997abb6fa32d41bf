import { expect } from 'chai';
import type { BoxReport } from '../../src/schema-types/box-report.js';
import type { LiveProcess } from '../../src/store/leases/leases.js';
import { boxesOf, differenceText, offsetText, type EqualPart } from '../../src/telemetry/boxes.js';

const NOW_MS = 1_800_000_000_000;
const MINUTE_MS = 60_000;

interface Told {
  host?: string;
  main_pid?: number;
  pid?: number;
  health?: BoxReport['health'];
  clock_offset_ms?: number;
  since_ms?: number;
  seen_ms?: number;
  values?: Partial<Record<EqualPart, string>>;
}

let pids = 100;

/** A process that has served for an hour, and has just been seen. */
function serving(told: Told = {}): LiveProcess {
  const { host = 'web1', pid = (pids += 1), main_pid = pid, values = {} } = told;
  const { health = 'ready', clock_offset_ms = 0, since_ms = NOW_MS - 60 * MINUTE_MS } = told;
  const value = (part: EqualPart, usual: string) => ({ value: values[part] ?? usual, since_ms });
  const report: BoxReport = {
    host,
    listen: '127.0.0.1:8080',
    main_pid,
    health,
    clock_offset_ms,
    equal: {
      version: value('version', '1.0.0'),
      configuration: value('configuration', 'c1'),
      prices: value('prices', 'p1'),
    },
  };
  return { ...rowOf(pid, host), seen_ms: told.seen_ms ?? NOW_MS, box: report };
}

function rowOf(pid: number, machine: string): LiveProcess {
  const id = `process-${pid}`;
  const started_ms = NOW_MS - 60 * MINUTE_MS;
  return { id, machine, pid, started_ms, seen_ms: NOW_MS, now_ms: NOW_MS, box: null };
}

const textsOf = (all: readonly LiveProcess[]): string[] =>
  boxesOf(all).differences.map(differenceText);

describe('the boxes on a store', () => {
  it('are one each, with the workers of one together', () => {
    const { count, boxes, differences } = boxesOf([
      serving({ host: 'web2' }),
      serving({ main_pid: 7, pid: 9 }),
      serving({ main_pid: 7, pid: 8, clock_offset_ms: -200 }),
      serving({ main_pid: 11, pid: 11 }),
    ]);
    expect(count).to.equal(3);
    expect(differences).to.deep.equal([]);
    expect(boxes.map(({ host, pids: all }) => [host, all.length])).to.deep.equal([
      ['web1', 2],
      ['web1', 1],
      ['web2', 1],
    ]);
    expect(boxes[0]).to.deep.equal({
      host: 'web1',
      listen: '127.0.0.1:8080',
      health: 'ready',
      version: '1.0.0',
      configuration: 'c1',
      prices: 'p1',
      clock_offset_ms: -200,
      pids: [8, 9],
      started_ms: NOW_MS - 60 * MINUTE_MS,
      seen_ms: NOW_MS,
      differs_in: [],
    });
  });

  it('are told apart where two have different prices, by name and hash', () => {
    const all = [
      serving(),
      serving({ host: 'web2' }),
      serving({ host: 'web3', values: { configuration: 'c2', prices: 'p2' } }),
    ];
    expect(textsOf(all)).to.deep.equal([
      'configuration: c1 on web1 (127.0.0.1:8080) and web2 (127.0.0.1:8080), c2 on web3 (127.0.0.1:8080)',
      'prices: p1 on web1 (127.0.0.1:8080) and web2 (127.0.0.1:8080), p2 on web3 (127.0.0.1:8080)',
    ]);
    const odd = boxesOf(all).boxes.map(({ differs_in }) => differs_in);
    expect(odd, 'most have the first').to.deep.equal([[], [], ['configuration', 'prices']]);
    const even = boxesOf(all.slice(1)).boxes.map(({ differs_in }) => differs_in.length);
    expect(even, 'neither is the usual one').to.deep.equal([2, 2]);
  });

  const cases: [string, number, boolean][] = [
    ['one minute', MINUTE_MS, false],
    ['more than a minute', MINUTE_MS + 1, true],
  ];
  for (const [what, age_ms, isTold] of cases) {
    it(`${isTold ? 'differ' : 'may differ'} after ${what}, whoever else starts meanwhile`, () => {
      const version = { version: '2.0.0' };
      const differences = boxesOf([
        serving(),
        serving({ host: 'web2', values: version, since_ms: NOW_MS - age_ms }),
        serving({ host: 'web3', values: version, since_ms: NOW_MS }),
        serving({ host: 'web4', since_ms: NOW_MS }),
      ]).differences;
      expect(differences.map(({ part }) => part)).to.deep.equal(isTold ? ['version'] : []);
    });
  }

  it('do not differ from one that drains, since it takes no new call', () => {
    const leaving = serving({ host: 'web2', health: 'draining', values: { version: '0.9.0' } });
    const { boxes, differences } = boxesOf([serving(), leaving]);
    expect(differences).to.deep.equal([]);
    expect(boxes.map(({ health }) => health)).to.deep.equal(['ready', 'draining']);
  });

  it('have workers that differ where one has not taken up a reload', () => {
    const late = serving({ main_pid: 7, values: { configuration: 'c0' } });
    const { count, boxes } = boxesOf([serving({ main_pid: 7 }), serving({ main_pid: 7 }), late]);
    expect(count).to.equal(1);
    expect(boxes.map(({ differs_in }) => differs_in)).to.have.deep.members([[], ['configuration']]);
  });

  it('are as healthy as their worst process, and silent after three heartbeats', () => {
    const healthOf = (...all: Told[]) =>
      boxesOf(all.map((one) => serving({ main_pid: 7, ...one }))).boxes[0]?.health;
    expect(healthOf({}, { health: 'waiting' }, { health: 'draining' })).to.equal('waiting');
    expect(healthOf({}, { seen_ms: NOW_MS - 30_000 })).to.equal('ready');
    expect(healthOf({}, { seen_ms: NOW_MS - 30_001 })).to.equal('silent');
  });

  it('have clocks that differ at once, from a second and a half on', () => {
    const at = (...offsets: number[]) =>
      offsets.map((clock_offset_ms, i) => {
        return serving({ host: `web${i}`, clock_offset_ms, since_ms: NOW_MS });
      });
    expect(textsOf(at(-700, 800))).to.deep.equal([]);
    expect(textsOf(at(-700, 2_801))).to.deep.equal([
      'clock: -0.7 s on web0 (127.0.0.1:8080), +2.8 s on web1 (127.0.0.1:8080)',
    ]);
    const oddOf = (...offsets: number[]) =>
      boxesOf(at(...offsets)).boxes.map(({ differs_in }) => differs_in.length);
    expect(oddOf(0, 100, -5_000)).to.deep.equal([0, 0, 1]);
    expect(oddOf(0, 5_000)).to.deep.equal([1, 1]);
    expect([0, -40, 50].map(offsetText)).to.deep.equal(['+0.0 s', '+0.0 s', '+0.1 s']);
  });

  it('whose reports have another form differ in their version, which is unknown', () => {
    const later: LiveProcess = { ...rowOf(6, 'elsewhere'), box: 'unknown' };
    const { boxes, differences } = boxesOf([serving(), later]);
    expect(boxes[0]).to.deep.include({ host: null, health: null, version: null, pids: [6] });
    expect(differences.map(differenceText)).to.deep.equal([
      'version: 1.0.0 on web1 (127.0.0.1:8080), an unknown version on process 6',
    ]);
  });

  it('of a version that says nothing are listed, and differ in their version', () => {
    const old = rowOf(5, 'elsewhere');
    const { count, boxes, differences } = boxesOf([serving(), old]);
    expect(count).to.equal(2);
    expect(boxes[0]).to.deep.include({ host: null, health: null, version: null, prices: null });
    expect(differences.map(differenceText)).to.deep.equal([
      'version: 1.0.0 on web1 (127.0.0.1:8080), an older version on process 5',
    ]);
  });
});
