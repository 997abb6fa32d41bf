import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { ask, chat, errorOf } from '../helpers/ask.js';
import { eventually, makePlace, SIMULATED, type Place, type Running } from '../helpers/cli.js';

const HELLO = { model: 'sim', messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 9 };

/** Lets a process write no file beyond so many bytes, as a full disk does; Linux has this tool. */
function limitFiles({ child }: Running, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]);
}

describe('a SQLite store whose disk takes no more', () => {
  let place: Place;
  let running: Running;
  let at: { url: string; secret: string };

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    place = await makePlace(SIMULATED);
    running = place.start('serve');
    const url = await running.url();
    const { secret } = await place.customer('ann');
    at = { url, secret };
  });
  after(() => place?.close());

  it('is 503 overloaded with Retry-After, unready at once, one line a call without a stack', async () => {
    expect((await chat(at, HELLO)).status).to.equal(200);
    limitFiles(running, 4_096);
    expect((await ask(at, '/readyz')).status).to.equal(503);
    for (let call = 0; call < 3; call++) {
      const answer = await chat(at, HELLO);
      expect([answer.status, errorOf(answer).code]).to.deep.equal([503, 'overloaded']);
      expect(answer.headers.get('retry-after')).to.equal('5');
    }
    await running.says('the store cannot be reached');
    limitFiles(running, 'unlimited');
    await eventually('it is ready', async () => (await ask(at, '/readyz')).status === 200);
    expect((await chat(at, HELLO)).status).to.equal(200);
    const { stderr } = await running.kill('SIGTERM');
    const failed = stderr
      .split('\n')
      .filter((line) => line.includes('the store cannot be reached'));
    expect(failed).to.have.length(3);
    expect(stderr).to.include('tollgate.db cannot be read or written');
    expect(stderr).not.to.match(/"stack"|insert into|COMMIT/iu);
    expect(await place.json('verify')).to.deep.include({ faults: [], open_holds: 0 });
  });
});
