import { expect } from 'chai';
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { eventually, makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import type { CommandHere } from '../helpers/run-command.js';
import { until } from '../helpers/until.js';

/** A gateway reads a file that has not changed for a second. */
const REST_MS = 900;
const PAUSE_MS = 400;

/**
 * Writes a file piece by piece, and waits until the gateway has taken it up; answers what it has
 * logged meanwhile. Does it again where the machine paused this process for so long that the file
 * seemed to be done.
 */
async function writtenSlowly(
  serving: CommandHere,
  file: string,
  pieces: string[],
): Promise<string> {
  for (;;) {
    const from = serving.stderr.length;
    const log = (): string => serving.stderr.slice(from);
    let [longest_ms, last_ms] = [0, Infinity];
    await rm(file, { force: true });
    for (const piece of pieces) {
      const now_ms = performance.now();
      await appendFile(file, piece);
      longest_ms = Math.max(longest_ms, performance.now() - last_ms);
      last_ms = now_ms;
      await sleep(PAUSE_MS);
    }
    await until(() => log().includes('took up the changed configuration'), 'it reads the file');
    if (longest_ms < REST_MS) return log();
  }
}

describe('tollgate serve and a changed file', () => {
  let place: Place;
  beforeEach(async () => {
    place = await makePlace(SIMULATED);
  });
  afterEach(() => place.close());

  it('does not load a file that is only half-written', async () => {
    const serving = place.begin('serve');
    const url = await serving.url();
    const [head = '', tail = ''] = SIMULATED.split('providers:');
    const pieces = [`${head}providers`, ':', tail.slice(0, 20), tail.slice(20), '# the end\n'];
    const log = await writtenSlowly(serving, place.file, pieces);
    expect(log).not.to.include('kept the older configuration');
    expect(await (await fetch(`${url}/readyz`)).json()).to.deep.equal({ status: 'ready' });
  });

  it('shows the line and the code of a fault to the probe, and no text of the file', async () => {
    const serving = place.begin('serve');
    const url = await serving.url();
    await place.write(`s3cret-key: 1\n${SIMULATED}`);
    let text = '';
    await eventually('the probe tells', async () => {
      text = await (await fetch(`${url}/readyz`)).text();
      return text.includes('older one serves');
    });
    expect(text).to.include('line 1: unknown_key').and.not.include('s3cret');
    await serving.says('s3cret-key');
  });

  describe('of several', () => {
    const model = (id: string): string =>
      `models: { ${id}: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free } }\n`;
    const included = (name: string): string => join(place.folder, 'models', name);
    let url: string;
    let serving: CommandHere;

    const hasModel = async (id: string): Promise<boolean> => {
      const answer = await fetch(`${url}/v1/models/${id}`, { headers: { authorization } });
      await answer.text();
      return answer.status === 200;
    };
    let authorization: string;

    beforeEach(async () => {
      await mkdir(join(place.folder, 'models'));
      await writeFile(included('a.yaml'), model('first'));
      await place.write(`include: [models/*.yaml]\n${SIMULATED}`);
      const { secret } = await place.customer('ann');
      authorization = `Bearer ${secret}`;
      serving = place.begin('serve');
      url = await serving.url();
    });

    it('takes up a changed, a new and a removed file', async () => {
      expect(await hasModel('first')).to.equal(true);
      await writeFile(included('a.yaml'), model('renamed'));
      await eventually('a changed file', () => hasModel('renamed'));
      await writeFile(included('b.yaml'), model('second'));
      await eventually('a new file', () => hasModel('second'));
      await rm(included('a.yaml'));
      await eventually('a removed file', async () => !(await hasModel('renamed')));
      expect(await hasModel('second')).to.equal(true);
      expect(serving.stderr).not.to.include('kept the older configuration');
    });

    it('does not load an included file that is only half-written', async () => {
      const [head = '', tail = ''] = model('second').split('owner:');
      const pieces = [`${head}owner`, ':', tail.slice(0, 20), tail.slice(20), '# the end\n'];
      const log = await writtenSlowly(serving, included('b.yaml'), pieces);
      expect(log).not.to.include('kept the older configuration');
      expect(await hasModel('second')).to.equal(true);
    });

    it('names the included file at fault, and takes it up once it is mended', async () => {
      await writeFile(included('b.yaml'), model('second').replace('price', 'prise'));
      await serving.says('models/b.yaml line 1: unknown key');
      const probe = await (await fetch(`${url}/readyz`)).text();
      expect(probe).to.include('models/b.yaml line 1: unknown_key');
      await writeFile(included('b.yaml'), model('second'));
      await eventually('the mended file', () => hasModel('second'));
    });
  });
});
