import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask } from '../helpers/ask.js';
import { makePlace, Running, SIMULATED, type Place } from '../helpers/cli.js';
import type { RunningCommand } from '../helpers/run-command.js';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { until } from '../helpers/until.js';

const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
/** Gives a program a terminal of its own. */
const SCRIPT = '/usr/bin/script';
const SECRET = 'sEcReT';

function yamlWith(models: readonly string[], path = ''): string {
  const provider =
    '{ uses: openai, base_url: "http://127.0.0.1:9/${PATH_OF_ACME}' + path + '", api_key: sk-1 }';
  const model = '{ owner: me, capabilities: [chat], upstreams: [{ provider: acme }], price: free }';
  return `listen: 127.0.0.1:0
owners: { me: { name: Me } }
providers: { acme: ${provider} }
models: { ${models.map((name) => `${name}: ${model}`).join(', ')} }
`;
}

describe('the log of tollgate serve', () => {
  let place: Place;
  beforeEach(async () => {
    place = await makePlace(yamlWith(['one', 'two']), { PATH_OF_ACME: SECRET });
  });
  afterEach(() => place.close());

  const lineWith = (serving: RunningCommand, text: string): Record<string, unknown> => {
    const lines = serving.stderr.split('\n').filter((line) => line.includes(text));
    expect(lines).to.have.length(1);
    return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  };

  it('tells in one line what a reload has changed, of much the first, and no part of an address', async () => {
    const serving = place.begin('serve');
    await serving.url();
    await place.write(yamlWith(['one', 'two']));
    await serving.says('took up the changed configuration: nothing changes for clients');
    await place.write(yamlWith(['one', 'three'], '/v2'));
    await serving.says('model three is new');
    expect(lineWith(serving, 'model three is new').changes).to.deep.equal([
      'model two is gone',
      'model three is new',
      'provider acme: its address is another one',
    ]);
    const many = Array.from({ length: 30 }, (_, at) => `m${at}`);
    await place.write(yamlWith(many, '/v2'));
    await serving.says('and 13 more');
    const { changes } = lineWith(serving, 'and 13 more') as { changes: string[] };
    expect(changes).to.have.length(20);
    expect(changes.slice(0, 2)).to.deep.equal(['model one is gone', 'model three is gone']);
    expect(serving.stderr).not.to.include(SECRET);
    const { stdout } = await place.tollgate('audit', '--json');
    expect(stdout).to.include('its address is another one').and.not.include(SECRET);
  });

  it('names the changed keys that only a restart takes up, which stay in force', async () => {
    const serving = place.begin('serve');
    const url = await serving.url();
    const written = yamlWith(['one', 'two']).replace('127.0.0.1:0', '127.0.0.1:1');
    await place.write(
      `${written}log: { level: debug }\nmetrics: 127.0.0.1:2\nstore: sqlite:x.db\n`,
    );
    await serving.says('took up the changed configuration');
    const sentence = 'only a restart takes up listen, store, journal, metrics, log.level';
    expect(lineWith(serving, 'took up').changes).to.deep.equal([sentence]);
    expect(await (await fetch(`${url}/readyz`)).json()).to.include({ configuration: sentence });
    const listen = new URL(url).host;
    await writeFile(join(place.folder, 'older.yaml'), yamlWith(['one', 'two']));
    const { stdout } = await place.tollgate('audit', '--config', 'older.yaml', '--json');
    expect(stdout).to.include(sentence);
    const state = await place.tollgate('status', '--listen', listen);
    expect(state.stdout).to.match(/^serving +yes, ready, at \S+; only a restart takes up listen/mu);
  });

  it('tells of a reload after .env alone was edited, made or removed', async () => {
    const own = await makePlace(yamlWith(['one', 'two']).replace('${PATH_OF_ACME}', '${PART}'));
    const env = join(own.folder, '.env');
    try {
      await writeFile(env, 'PART=before\n');
      const serving = own.begin('serve');
      await serving.url();
      await writeFile(env, 'PART=after\n');
      await serving.says('provider acme: its address is another one');
      await rm(env);
      await serving.says('kept the older configuration');
    } finally {
      await own.close();
    }
  });

  it('says in status which included file has the fault', async () => {
    await writeFile(join(place.folder, 'more.yaml'), 'models:\n  broken: { price: free }\n');
    await place.write(`include: [more.yaml]\n${yamlWith(['one', 'two'])}`);
    const { stdout } = await place.tollgate('status');
    expect(stdout).to.match(/^configuration +gateway\.yaml has \d errors?; more\.yaml line 2: /mu);
  });

  it('has one short line for the fault of an upstream, and none of our stack', async () => {
    const serving = place.begin('serve');
    const url = await serving.url();
    const { secret } = await place.customer('alice');
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'one', messages: [{ role: 'user', content: 'Hi' }] });
    const path = '/v1/chat/completions';
    const answer = await ask({ url, secret }, path, { method: 'POST', headers, body });
    expect(answer.status).to.equal(502);
    await serving.says('"status":502');
    const lines = serving.stderr.trimEnd().split('\n');
    const faults = lines.filter((line) => line.includes('"msg":"an upstream failed"'));
    // The call, and its one retry; the line besides says that the upstream is left alone.
    expect(faults).to.have.length(2);
    for (const fault of faults) expect(fault).to.include('ECONNREFUSED');
    expect(lines).to.have.length(4);
    expect(lines.at(-1)).to.include('"level":40').and.include('"code":"upstream_error"');
    expect(Math.max(...lines.map((line) => line.length))).to.be.below(300);
    expect(serving.stderr).not.to.match(/\.[jt]s:\d/u);
  });

  /** The line of a request, which is text. */
  const requestLine = (text: string, isColoured: boolean): void => {
    const [line = ''] = text.split(/\r?\n/u).filter((one) => one.includes('/nowhere'));
    const bare = stripVTControlCharacters(line);
    expect(bare).to.match(/^[\d:.]{12} 404 GET \/nowhere not_found [\d.]+ms [\da-f-]{36}$/u);
    expect(line !== bare).to.equal(isColoured);
  };

  it('is plain text elsewhere, where the file asks for text', async () => {
    await place.write(`${SIMULATED}log: { format: text }\n`);
    const serving = place.begin('serve');
    expect((await fetch(`${await serving.url()}/nowhere`)).status).to.equal(404);
    await serving.says('not_found');
    requestLine(serving.stderr, false);
  });

  (existsSync(SCRIPT) ? it : it.skip)('is coloured text on a terminal', async () => {
    await place.write(SIMULATED);
    const pid = join(place.folder, 'serve.pid');
    const serve = `${process.execPath} ${MAIN} serve --config ${place.file}`;
    const shell = `echo $$ > ${pid} && exec ${serve}`;
    const options = { cwd: place.folder, env: { PATH: process.env.PATH } };
    const serving = new Running(spawn(SCRIPT, ['-qec', shell, '/dev/null'], options));
    try {
      const said = (): string | undefined => / on (http:\S+)/u.exec(serving.stdout)?.[1];
      await until(() => said() !== undefined, 'it serves');
      expect((await fetch(`${said()}/nowhere`)).status).to.equal(404);
      await until(() => serving.stdout.includes('not_found'), 'it logs the request');
      requestLine(serving.stdout, true);
    } finally {
      // The end of its terminal is a SIGHUP, at which a gateway reads its file again.
      process.kill(Number(await readFile(pid, 'utf8')), 'SIGTERM');
      await serving.ended;
    }
  });
});
