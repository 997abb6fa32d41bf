import { expect } from 'chai';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ask, chat } from '../helpers/ask.js';
import { freePort } from '../helpers/free-port.js';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import { until } from '../helpers/until.js';
import { expectGreeting, expectNoKey, FIRST_START, SECRET } from './helpers/greeting.js';

const FIRST = SIMULATED + FIRST_START;
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
describe('tollgate serve', () => {
  let place: Place;

  beforeEach(async () => {
    place = await makePlace(SIMULATED);
  });
  afterEach(() => place.close());

  it('greets a newcomer once, with a command that works', async () => {
    await place.write(FIRST);
    const first = place.begin('serve');
    await expectGreeting(first);
    expect(await first.stop()).to.include({ status: 0, signal: null });
    await expectNoKey(place.begin('serve'));
  });

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

  it('ends at once when it is stopped while it waits for PostgreSQL', async () => {
    const away = `postgres://u@127.0.0.1:${await freePort()}/db`;
    await place.write(SIMULATED.replace(/^store: .*$/mu, `store: ${away}`));
    const waiting = place.begin('serve');
    await waiting.says('waiting for it');
    const { status, stdout, stderr } = await waiting.stop();
    expect({ status, stdout }).to.deep.equal({ status: 0, stdout: '' });
    expect(stderr).to.contain('stopping: the store has not answered');
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
