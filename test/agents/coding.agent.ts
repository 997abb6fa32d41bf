import { expect } from 'chai';
import { ask } from '../helpers/ask.js';
import { eventually, makePlace, type Place as Box, type Running } from '../helpers/cli.js';
import { AGENTS, CONTENT, type Agent } from './agents.js';
import { emptyPlace, run, type Run } from './run.js';
import { FINAL_TEXT, type UpstreamCall } from './script.js';
import { WIRES, type Wire } from './wires.js';

const TEST_MS = 150_000;
/** Nano-dollars a token. */
const PRICE = { input: 3_000, cached: 300, output: 15_000 };

interface Entry {
  kind: string;
  amount: string;
  estimated: boolean;
}

interface AccessLine {
  account?: string;
  endpoint?: string;
  status: number;
}

for (const [title, start] of Object.entries(WIRES)) {
  describe(`coding agents, with an upstream that speaks ${title}`, function () {
    this.timeout(TEST_MS);
    let wire: Wire;
    let box: Box;
    let serving: Running;
    let url: string;

    before(async () => {
      wire = await start();
      box = await makePlace(yaml(wire.provider));
      serving = box.start('serve');
      url = await serving.url();
    });
    after(async () => {
      await box?.close();
      await wire?.close();
    });

    for (const [at, agent] of AGENTS.entries()) {
      it(agent.title, async () => {
        const { script } = wire;
        const create = ['account', 'create', `agent-${at}`, '--credit', '10'];
        const { id } = await box.json<{ id: string }>(...create);
        const { secret } = await box.json<{ secret: string }>('key', 'create', id, '--name=a');
        const place = await emptyPlace();
        script.begin(agent.writes(place.file));
        const done = await run(agent, place, { url, secret });
        const requests = await requestsOf(serving, { url, secret, id });
        const entries = await box.json<Entry[]>('ledger', id);
        const charges = entries.filter(({ kind }) => kind === 'charge');
        console.log(lineOf(agent, done, requests, charges));

        expect(
          script.calls.map(({ turn }) => turn),
          said(done),
        ).to.have.members([...agent.turns]);
        expect(requests.filter(({ status }) => status !== 200)).to.deep.equal([]);
        expect(done.written, said(done)).to.equal(CONTENT);
        expect(done.stdout).to.include(FINAL_TEXT);
        expect(charges.map(({ amount }) => amount).sort()).to.deep.equal(
          script.calls.map(chargeOf).sort(),
        );
        expect(charges.some(({ estimated }) => estimated)).to.equal(false);
      });
    }
  });
}

function yaml(provider: string): string {
  const models = new Set(AGENTS.map(({ model }) => model));
  const entries = [...models].map(
    (model) => `
  ${model}:
    owner: acme
    capabilities: [chat, vision, tools]
    upstreams: [{ provider: acme, model: best }]
    limits: { max_tokens: 32000, context: 200000 }
    price: { input_per_million: 3, cached_input_per_million: 0.3, output_per_million: 15 }`,
  );
  return `listen: 127.0.0.1:0
store: sqlite:data/tollgate.db
owners: { acme: { name: Acme } }
providers: { acme: ${provider} }
models:${entries.join('')}
`;
}

/** The requests of an account, by the access log. A last request of our own marks its end. */
async function requestsOf(
  serving: Running,
  { url, secret, id }: { url: string; secret: string; id: string },
): Promise<AccessLine[]> {
  await ask({ url, secret }, '/v1/models');
  const lines = (): AccessLine[] =>
    serving.stderr
      .split('\n')
      .filter((line) => line.includes(`"account":"${id}"`))
      .map((line) => JSON.parse(line) as AccessLine);
  await eventually('the log has the last request', async () => {
    await new Promise(setImmediate);
    return lines().at(-1)?.endpoint === 'models';
  });
  return lines().slice(0, -1);
}

function chargeOf({ usage }: UpstreamCall): string {
  const { prompt_tokens, cached_tokens, completion_tokens } = usage;
  const nano =
    (prompt_tokens - cached_tokens) * PRICE.input +
    cached_tokens * PRICE.cached +
    completion_tokens * PRICE.output;
  return `-${(nano / 1e9).toFixed(9).replace(/0{1,9}$/u, '')}`;
}

function lineOf(
  { title, package: { version } }: Agent,
  { status, stdout, written }: Run,
  requests: readonly AccessLine[],
  charges: readonly Entry[],
): string {
  const asked = requests.map(({ endpoint, status: code }) => `${endpoint} ${code}`).join(', ');
  const amounts = charges.map(({ amount }) => amount).join(' ');
  const file = written === CONTENT ? 'file written' : 'NO FILE';
  const text = stdout.includes(FINAL_TEXT) ? 'text printed' : 'NO TEXT';
  return `    ${title} (${version}): ${asked}; ${amounts}; ${file}; ${text}; exit ${status}`;
}

function said({ stdout, stderr }: Run): string {
  return `${stdout}\n${stderr}`;
}
