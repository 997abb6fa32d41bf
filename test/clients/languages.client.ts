import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commandsOf, installedIn } from '../agents/install.js';
import { chargeOf } from '../agents/script.js';
import { scriptedModel, servedBefore } from '../agents/served.js';
import { startChatWire } from '../agents/wires.js';
import { CLIENTS, type Client } from './clients.js';

const SCRIPTS = fileURLToPath(new URL('python/', import.meta.url));
const CALLS_MS = 300_000;
const SIMULATED = Object.entries({
  embedding: '{ input_per_million: 0.02 }',
  moderation: '{ input_per_million: 0.02 }',
  speech: '{ per_million_characters: 15 }',
  transcription: '{ per_audio_minute: 0.006 }',
  image: '{ per_image: 0.04 }',
}).map(
  ([name, price]) => `  sim-${name}:
    { owner: acme, capabilities: [${name}], upstreams: [{ provider: simulator }], price: ${price} }
`,
);

const root = process.env.TOLLGATE_TEST_CLIENTS;
if (root === undefined) throw new Error('npm run test:clients installs the clients first.');
const { versions, failures } = installedIn(root);

describe('client libraries of other languages', function () {
  this.timeout(2 * CALLS_MS);
  const running = servedBefore(startChatWire, {
    providers: ', simulator: {}',
    models: scriptedModel('acme-chat') + SIMULATED.join(''),
  });

  for (const client of CLIENTS) {
    const { name } = client.package;
    const failure = failures[name];
    if (failure !== undefined) {
      it(`${name}: ${failure}`);
      continue;
    }
    it(`${name}: answers as it documents, each call charged once`, async () => {
      const { gateway, wire } = running;
      const customer = await gateway.customer(name, '10');
      wire.script.begin(client.steps);
      const { said, stderr } = await callsOf(client, gateway.url, customer.secret);
      const requests = await gateway.requests(customer);
      const charges = (await gateway.charges(customer)).map(({ amount }) => amount);
      const asked = requests.map(({ msg, status }) => `${msg} ${status}`).join(', ');
      console.log(`    ${name} ${versions[name]}: ${asked}; ${charges.join(' ')}`);

      expect(said, stderr).to.deep.equal(client.says);
      expect(requests.filter(({ status }) => status !== 200)).to.deep.equal([]);
      expect(charges).to.have.length(requests.filter(({ msg }) => isPriced(msg)).length);
      const scripted = wire.script.calls.map(chargeOf);
      expect(charges.filter((amount) => scripted.includes(amount)).sort()).to.deep.equal(
        scripted.sort(),
      );
    });
  }
});

/** What a client's script printed; a failed one still tells what it has called before. */
async function callsOf(
  { package: each, script, env }: Client,
  url: string,
  secret: string,
): Promise<{ said: object[]; stderr: string }> {
  const home = await mkdtemp(join(tmpdir(), 'tollgate-client-'));
  try {
    const { stdout, stderr } = await promisify(execFile)(
      join(commandsOf(root ?? '', each), 'python'),
      [join(SCRIPTS, script)],
      {
        timeout: CALLS_MS,
        env: {
          HOME: home,
          LLM_USER_PATH: home,
          PYTHONDONTWRITEBYTECODE: '1',
          TOLLGATE_URL: url,
          TOLLGATE_API_KEY: secret,
          ...env,
        },
      },
    );
    return { said: saidIn(stdout), stderr };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { said: saidIn(stdout), stderr: `${String(error)}\n${stderr}` };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function saidIn(stdout: string): object[] {
  const lines = stdout.split('\n').filter((line) => line.startsWith('said '));
  return lines.map((line) => JSON.parse(line.slice('said '.length)) as object);
}

/** Counts of tokens and lists of models cost nothing. */
function isPriced(message: string): boolean {
  return message.startsWith('POST ') && !/count_?tokens/iu.test(message);
}
