import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ask, chat, completionOf } from '../helpers/ask.js';
import { freePort } from '../helpers/free-port.js';
import { makePlace, Running, SIMULATED, type Place } from '../helpers/cli.js';
import { until } from '../helpers/until.js';

const FIRST = `${SIMULATED}first_start: { account: "ann's", credit: 2.50 }\n`;
const BOOM = `export default {
  name: 'boom',
  shape: { needs: [], gives: [] },
  create() { throw new Error('Boom is not set up'); },
};`;
const CARELESS = `export default {
  name: 'careless',
  shape: { needs: [], gives: [] },
  create: () => (ctx, next) => {
    void Promise.reject(new Error('left alone'));
    return next();
  },
};`;
const SECRET = /tg-[0-9A-Za-z]{20,}/gu;

/** The statuses of following a sign-in link twice, at the address where the gateway really is. */
async function signedIn(url: string, link: string): Promise<number[]> {
  const { pathname, search } = new URL(link);
  const follow = async (): Promise<number> =>
    (await fetch(`${url}${pathname}${search}`, { redirect: 'manual' })).status;
  return [await follow(), await follow()];
}

describe('tollgate serve', () => {
  let place: Place;

  beforeEach(async () => {
    place = await makePlace(SIMULATED);
  });
  afterEach(() => place.close());

  for (const workers of ['1', '2']) {
    it(`greets a newcomer once, with a command that works, ${workers} at work`, async () => {
      await place.write(FIRST);
      const first =
        workers === '1' ? place.begin('serve') : place.start('serve', '--workers', workers);
      const url = await first.url();
      const { stdout } = first;
      expect(stdout)
        .to.match(/account "ann's"/u)
        .and.include('$2.50')
        .and.include(`\n  npx tollgate sign-in-link 'ann'\\''s' --operator\n\n`);
      expect(new Set(stdout.match(SECRET))).to.have.property('size', 1);
      const [, command = ''] = /\n(  curl [\s\S]+?[^\\])\n\n/u.exec(stdout) ?? [];
      const shell = spawn('sh', ['-c', `${command} --silent --show-error`]);
      let answer = '';
      shell.stdout.setEncoding('utf8').on('data', (text: string) => (answer += text));
      const [status] = (await once(shell, 'close')) as [number];
      expect(status).to.equal(0);
      completionOf({ status: 200, headers: new Headers(), text: answer });

      const [secret = ''] = stdout.match(SECRET) ?? [];
      expect((await ask({ url, secret }, '/v1/models')).status).to.equal(200);
      const [link = ''] = /^ {2}http\S+\/sign-in\/link\?token=\S+$/mu.exec(stdout) ?? [];
      expect(await signedIn(url, link.trim())).to.deep.equal([303, 400]);
      const ended = first instanceof Running ? first.kill('SIGTERM') : first.stop();
      expect(await ended).to.include({ status: 0, signal: null });

      const second = place.begin('serve');
      await second.url();
      expect(second.stdout).not.to.match(SECRET).and.not.include('curl');
      expect(second.stdout).to.match(/^Tollgate is serving 1 model on http:\S+\n$/u);
      expect(second.stderr).not.to.match(SECRET);
    });
  }

  it('prints all of its first start as one JSON document with --json', async () => {
    await place.write(`${FIRST}dashboard: false\ntrusted_proxies: [0.0.0.0/0]\n`);
    const serving = place.begin('serve', '--json');
    await until(() => serving.stdout.endsWith('}\n'), 'it prints');
    const {
      url,
      models,
      warnings,
      first_start: first,
    } = JSON.parse(serving.stdout) as {
      url: string;
      models: number;
      warnings: number;
      first_start: { account: string; credit: string; secret: string; sign_in_link: string | null };
    };
    expect([models, warnings]).to.deep.equal([1, 1]);
    expect(first).to.include({ account: "ann's", credit: '2.50', sign_in_link: null });
    expect((await ask({ url, secret: first.secret }, '/v1/models')).status).to.equal(200);
  });

  it('says how many warnings the file has, and how to see them', async () => {
    await place.write(`${SIMULATED}trusted_proxies: [0.0.0.0/0]\n`);
    const serving = place.begin('serve');
    await serving.url();
    const command = 'tollgate check gateway.yaml';
    const printed = `\ngateway.yaml has 1 warning: ${command}\n`;
    await until(() => serving.stdout.endsWith(printed), 'it prints');
    await place.write(`${SIMULATED}trusted_proxies: ['::/0', 0.0.0.0/0]\n`);
    await serving.says('gateway.yaml has 2 warnings: tollgate check ');
  });

  for (const workers of ['1', '2']) {
    it(`says in a sentence that a port is taken, ${workers} at work, and loses no key`, async () => {
      await place.write(FIRST);
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const args = ['serve', '--listen', address, '--workers', workers];
      const ran = workers === '1' ? place.tollgate(...args) : place.start(...args).ended;
      const { status, stdout, stderr } = await ran;
      expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr).to.match(/^tollgate: cannot listen on \S+: something else [^\n]+\n$/u);
      expect(stderr).to.include(address);
      server.close();
      expect(await place.json('account', 'list')).to.deep.equal([]);
    });
  }

  it('says in a sentence that a stage cannot be made', async () => {
    await writeFile(join(place.folder, 'boom.mjs'), BOOM);
    await place.write(`${SIMULATED}endpoints: { x: { at: GET /x, stages: [./boom.mjs] } }\n`);
    const { status, stdout, stderr } = await place.tollgate('serve');
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.equal('tollgate: boom is not set up\n');
  });

  it('says in a sentence that the store cannot be opened', async () => {
    await place.write(SIMULATED.replace('sqlite:data/tollgate.db', 'sqlite:gateway.yaml'));
    const { status, stdout, stderr } = await place.tollgate('serve');
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.match(/^tollgate: the store cannot be opened: [^\n]+\n$/u);
  });

  it('prints the faults of a broken file', async () => {
    await place.write(SIMULATED.replace('owner: me', 'owner: you'));
    const serve = await place.tollgate('serve');
    const check = await place.tollgate('check');
    expect(serve).to.include({ status: 1, stdout: '' });
    expect(serve.stderr).to.equal(check.stdout);
    expect(serve.stderr).to.match(/^gateway\.yaml:6:\d+: error: .*"you"/u);
  });

  it("outlives a promise that an operator's stage leaves alone", async () => {
    await writeFile(join(place.folder, 'careless.mjs'), CARELESS);
    const stages = '[auth, ./careless.mjs, models]';
    await place.write(`${FIRST}endpoints: { models: { at: GET /v1/models, stages: ${stages} } }\n`);
    const serving = place.start('serve');
    const url = await serving.url();
    const [secret = ''] = serving.stdout.match(SECRET) ?? [];
    for (let time = 0; time < 3; time++) {
      expect((await ask({ url, secret }, '/v1/models')).status).to.equal(200);
    }
    await serving.says('left alone');
    expect(await serving.kill('SIGTERM')).to.include({ status: 0, signal: null });
  });

  it('logs one line of JSON for a request at --listen, without keys or prompts', async () => {
    await place.write(FIRST);
    const address = `127.0.0.1:${await freePort()}`;
    const serving = place.begin('serve', '--listen', address);
    const url = await serving.url();
    expect(url).to.equal(`http://${address}`);
    const [secret = ''] = serving.stdout.match(SECRET) ?? [];
    const messages = [{ role: 'user', content: 'My secret thought.' }];
    const answer = await chat({ url, secret }, { model: 'sim', messages });
    const id = answer.headers.get('x-request-id') ?? '';
    await serving.says(id);
    const lines = serving.stderr.trimEnd().split('\n');
    const [line] = lines.map((text) => JSON.parse(text) as object).filter((one) => 'ms' in one);
    const msg = 'POST /v1/chat/completions';
    const known = { request_id: id, status: 200, model: 'sim', upstream: 'simulator', msg };
    const figures = ['level', 'time', 'ms', 'account', 'in', 'out', 'cost'];
    expect(line).to.include(known).and.to.have.keys(Object.keys(known).concat(figures));
    expect(Math.max(...lines.map((text) => text.length))).to.be.below(300);
    expect(serving.stderr).not.to.match(SECRET).and.not.include('thought');
  });
});
