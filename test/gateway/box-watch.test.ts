import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { reportOf } from '../../src/cli/status-report.js';
import { statusText } from '../../src/cli/status-text.js';
import { BoxWatch } from '../../src/gateway/box-watch.js';
import { checkOrThrow } from '../../src/gateway/check.js';
import type { Health } from '../../src/gateway/probes.js';
import { packageFacts } from '../../src/lib/package-root.js';
import { SharedClock } from '../../src/lib/shared-clock.js';
import type { Store } from '../../src/store/store-types.js';
import { openStore } from '../../src/store/open.js';
import { boxesOf } from '../../src/telemetry/boxes.js';
import { boxReport } from '../helpers/box-report.js';
import { startGateway } from '../helpers/gateway.js';
import { writeNewStore } from '../helpers/new-store.js';
import { parseScrape } from '../helpers/prometheus.js';
import { onEachStore } from '../store/helpers/ground.js';

const FILE = `owners: { acme: { name: Acme } }
providers: { sim: { uses: simulator } }
models:
  small:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: sim }]
    price: { input_per_million: 0.03, output_per_million: 0.06 }
`;
const LATER_MS = 61_000;

const OTHER = boxReport({ clock_offset_ms: 9_000 });

/** A process of a box: its watch, its heartbeat, and what it logs. */
interface Beating {
  watch: BoxWatch;
  state: Health;
  faults: { fault: string | undefined };
  log: { msg: string; differ_in?: string[] }[];
  beat(): Promise<void>;
  take(yaml: string): Promise<void>;
}

onEachStore('boxes that share a store', (ground) => {
  let folder: string;
  /** How far the time of the processes is behind that of the database. */
  let behind_ms: number;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'));
    behind_ms = 0;
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function beating(yaml: string, own_ahead_ms = 0): Promise<Beating> {
    const store: Store = await ground.open();
    const log: Beating['log'] = [];
    const clock = new SharedClock(Date.now());
    const faults: Beating['faults'] = { fault: undefined };
    const state: Health = {
      phase: 'serving',
      store_hangs: false,
      configuration_fault: undefined,
      configuration_reason: undefined,
      restart_keys: [],
      outdated: undefined,
      boxes_differ_in: [],
    };
    const watch = new BoxWatch({
      store,
      charge_writer: faults,
      state,
      log: pino({ base: null }, { write: (line: string) => log.push(JSON.parse(line)) }),
      now: () => clock.now() - behind_ms,
      own_now: () => Date.now() + own_ahead_ms,
      clock,
    });
    const take = async (text: string): Promise<void> => {
      const file = join(folder, 'gateway.yaml');
      await writeFile(file, text);
      watch.take((await checkOrThrow(file, {})).configuration);
    };
    const beat = async (): Promise<void> => {
      await clock.look(() => store.clock());
      await store.heartbeat(undefined, watch.report());
      await watch.look();
    };
    await take(yaml);
    await beat();
    return { watch, state, faults, log, beat, take };
  }

  it('say what they are, and nothing where they are equal', async () => {
    const one = await beating(FILE);
    const other = await beating(FILE);
    await one.beat();
    expect([one.watch.count, one.log, one.state.boxes_differ_in]).to.deep.equal([1, [], []]);
    expect(other.log).to.deep.equal([]);
    const { boxes } = boxesOf(await (await ground.open()).processes());
    expect(boxes).to.have.length(1);
    expect(boxes[0]).to.deep.include({
      host: hostname(),
      listen: '127.0.0.1:8080',
      health: 'ready',
      version: packageFacts().version,
      pids: [process.pid, process.pid],
      differs_in: [],
    });
    expect(boxes[0]?.clock_offset_ms).to.be.within(-1_000, 1_000);
  });

  it('with different prices are told once in the log, and in the body of the probe', async () => {
    behind_ms = LATER_MS;
    const one = await beating(FILE);
    const other = await beating(FILE.replace('0.03', '0.07'));
    await one.beat();
    await one.beat();
    for (const { log, state } of [one, other]) {
      expect(state.boxes_differ_in).to.deep.equal(['configuration', 'prices']);
      expect(log.map(({ msg }) => msg)).to.deep.equal(['the boxes on this store differ']);
      expect(log[0]?.differ_in?.[1]).to.match(/^prices: [0-9a-f]{12} on .+, [0-9a-f]{12} on /u);
    }
  });

  it('may differ for a minute during a reload, and are told to be equal afterwards', async () => {
    behind_ms = LATER_MS;
    const one = await beating(FILE);
    const other = await beating(FILE);
    const dear = FILE.replace('0.03', '0.07');
    behind_ms = 0;
    await one.take(dear);
    for (const each of [one, other, one]) await each.beat();
    expect([one.state.boxes_differ_in, one.log]).to.deep.equal([[], []]);
    behind_ms = LATER_MS;
    await other.take(FILE.replace('0.06', '0.09'));
    for (const each of [other, one]) await each.beat();
    expect(one.state.boxes_differ_in, 'since the reload').to.deep.equal([]);
    await one.take(FILE);
    for (const each of [one, other]) await each.beat();
    expect(other.state.boxes_differ_in, 'for long').to.deep.equal(['configuration', 'prices']);
    await other.take(FILE);
    await other.beat();
    expect(other.log.map(({ msg }) => msg)).to.deep.equal([
      'the boxes on this store differ',
      'the boxes on this store do not differ any more',
    ]);
    expect(other.state.boxes_differ_in).to.deep.equal([]);
  });

  it('with clocks that are seconds apart are told once, though the offset moves', async () => {
    const one = await beating(FILE);
    const other = await beating(FILE, 60_000);
    await other.beat();
    expect(one.watch.clock_offset_ms).to.be.within(-1_000, 1_000);
    expect(other.watch.clock_offset_ms).to.be.within(59_000, 61_000);
    expect(other.state.boxes_differ_in).to.deep.equal(['clock']);
    expect(other.log).to.have.length(1);
  });

  it('of a later version, with reports of another form, make no heartbeat fail', async () => {
    behind_ms = LATER_MS;
    const one = await beating(FILE);
    const later = await openStore(ground.place.url, { now: () => Date.now() - 2 * LATER_MS });
    for (const form of ['{"host":{"name":"web9"},"parts":[]}', '"web9"', 'web9']) {
      await later.heartbeat(undefined, form);
      await one.beat();
      expect(one.state.boxes_differ_in, form).to.deep.equal(['version']);
    }
    await later.close();
    expect(one.log, 'told once').to.have.length(1);
    expect(one.log[0]?.differ_in?.[0]).to.contain(`an unknown version on process ${process.pid}`);
  });

  it('say whether they are ready, drain or wait for the store', async () => {
    const one = await beating(FILE);
    const health = async (): Promise<unknown> => {
      await one.beat();
      return boxesOf(await (await ground.open()).processes()).boxes[0]?.health;
    };
    expect(await health()).to.equal('ready');
    one.faults.fault = 'the store does not take writes';
    expect(await health()).to.equal('waiting');
    one.faults.fault = undefined;
    one.state.store_hangs = true;
    expect(await health()).to.equal('waiting');
    one.state.phase = 'leaving';
    expect(await health()).to.equal('draining');
  });
});

describe('a gateway whose box has other prices than another one', () => {
  it('says so to probes, scrapes, `status` and operators, and stays ready', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'));
    const file = join(folder, 'shared.db');
    await writeNewStore(file);
    const url = `sqlite:${file}`;
    const other = await openStore(url, { now: Date.now });
    const equal = { ...OTHER.equal, version: { value: packageFacts().version, since_ms: 0 } };
    await other.heartbeat(undefined, JSON.stringify({ ...OTHER, equal }));
    const started = await startGateway(`metrics: 127.0.0.1:0\n${FILE}`, {
      store: url,
      now: () => Date.now() - LATER_MS,
    });
    try {
      const answer = await fetch(`${started.url}/readyz`);
      expect([answer.status, await answer.json()]).to.deep.equal([
        200,
        {
          status: 'ready',
          boxes: 'the boxes on this store differ in configuration, prices, clock',
        },
      ]);
      const scrape = parseScrape((await started.gateway.views.metrics?.text()) ?? '');
      expect(scrape.sum('tollgate_boxes')).to.equal(2);
      const differ = (part: string) => scrape.sum('tollgate_boxes_differ', { part });
      expect(['version', 'configuration', 'prices', 'clock'].map(differ)).to.deep.equal([
        0, 1, 1, 1,
      ]);
      expect(scrape.sum('tollgate_boxes_clock_offset_seconds')).to.equal(0);
      const listen = started.url.replace('http://', '');
      const report = await reportOf({ config: started.file, listen }, Date.now());
      expect(report.serving.ready).to.equal(true);
      expect(report.boxes?.count).to.equal(2);
      const lines = statusText(report).filter((line) => /box|web2/u.test(line));
      expect(lines[0]).to.match(/^boxes +2 boxes on this store; they differ in configuration: /u);
      expect(lines[1]).to.match(
        /^ {2}web2 \(10\.0\.0\.2:8080\) ready, .+, prices p2, clock \+9\.0 s, 1 process$/u,
      );
    } finally {
      await started.close();
      await other.close();
      await rm(folder, { recursive: true });
    }
  });
});
