import { expect } from 'chai';
import { readFile, readdir } from 'node:fs/promises';
import { eventually, makePlace, SIMULATED, type Place, type Running } from '../helpers/cli.js';
import { ask } from '../helpers/ask.js';
import { until } from '../helpers/until.js';

describe('tollgate serve --workers', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let place: Place;
  let serving: Running;
  let at: { url: string; secret: string };

  beforeEach(async () => {
    place = await makePlace(SIMULATED);
    const { secret } = await place.customer('ann');
    serving = place.start('serve', '--workers', '2');
    at = { url: await serving.url(), secret };
  });
  afterEach(() => place.close());

  const answers = async (): Promise<boolean> => {
    try {
      return (await ask(at, '/v1/models', { headers: { connection: 'close' } })).status === 200;
    } catch {
      return false;
    }
  };

  it('replaces a worker that dies, serves on, and leaves none behind, also when one has just died', async () => {
    const [victim = 0] = await workersOf(serving);
    process.kill(victim, 'SIGKILL');
    await serving.says('another one takes its place');
    let good = 0;
    while (good < 10) good = (await answers()) ? good + 1 : 0;
    let workers: number[] = [];
    await eventually('two workers are there again', async () => {
      workers = await workersOf(serving);
      return workers.length === 2 && !workers.includes(victim);
    });
    process.kill(workers[0] ?? 0, 'SIGKILL');
    const replaced = (): number => serving.stderr.split('another one takes its place').length - 1;
    await until(() => replaced() >= 2, 'it is replaced again');
    expect(await serving.kill('SIGTERM')).to.include({ status: 0, signal: null });
    for (const pid of workers) expect(() => process.kill(pid, 0)).to.throw('ESRCH');
    expect(await answers()).to.equal(false);
  });

  it('passes SIGHUP on to all, and leaves none running when it is killed', async () => {
    await place.write(SIMULATED.replace('  sim:', '  other:'));
    serving.child.kill('SIGHUP');
    const taken = (): number =>
      serving.stderr.split('took up the changed configuration').length - 1;
    await until(() => taken() >= 2, 'both take it up');
    for (let call = 0; call < 6; call += 1) {
      expect((await ask(at, '/v1/models', { headers: { connection: 'close' } })).text).to.include(
        '"other"',
      );
    }
    const workers = await workersOf(serving);
    expect(workers).to.have.length(2);
    await serving.kill('SIGKILL');
    await until(() => !workers.some(lives), 'the workers are gone');
  });
});

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The processes whose parent is this one, as Linux tells them. */
async function workersOf({ child }: Running): Promise<number[]> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
  const stats = processes.map(async (pid) => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid: Number(pid), parent: Number(parent), state };
  });
  const workers = (await Promise.all(stats)).filter(({ parent }) => parent === child.pid);
  return workers.filter(({ state }) => state !== 'Z').map(({ pid }) => pid);
}
