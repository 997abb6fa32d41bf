import { expect } from 'chai';
import { AGENTS, CONTENT, type Agent } from './agents.js';
import { installedIn } from './install.js';
import { emptyPlace, installedRoot, run, said, WAYS, wayOf, type Run } from './run.js';
import { chargeOf, FINAL_TEXT } from './script.js';
import { scriptedModel, servedBefore, type Charge, type Request } from './served.js';
import { startChatWire, WIRES } from './wires.js';

const TEST_MS = 660_000;
const MODELS = {
  models: [...new Set(AGENTS.map(({ model }) => model))].map(scriptedModel).join(''),
};

const { versions, failures } = installedIn(installedRoot());

/** Those that are there; the others are pending, with the reason. */
function eachAgent(agents: readonly Agent[], test: (agent: Agent) => void): void {
  for (const agent of agents) {
    const failure = failures[agent.package.name];
    if (failure === undefined) test(agent);
    else it(`${agent.title}: ${failure}`);
  }
}

for (const [at, [title, start]] of Object.entries(WIRES).entries()) {
  const way = WAYS[at % WAYS.length] ?? 'lines';
  describe(`coding agents, with an upstream that speaks ${title}`, function () {
    this.timeout(TEST_MS);
    const running = servedBefore(start, MODELS);

    eachAgent(AGENTS, (agent) => {
      it(`${agent.title}, set up by ${wayOf(agent, way)}`, async () => {
        const { gateway, wire } = running;
        const { script } = wire;
        const customer = await gateway.customer(agent.title, '10');
        const place = await emptyPlace();
        script.begin(agent.steps(place.files));
        const done = await run(agent, place, { ...gateway, secret: customer.secret, way });
        const requests = await gateway.requests(customer);
        const charges = await gateway.charges(customer);
        console.log(lineOf(agent, done, requests, charges));

        const turns = script.calls.map(({ turn }) => turn).filter((turn) => turn !== 'aside');
        const isByText = agent.steps(place.files).every((step) => typeof step === 'string');
        const steps = ['step', 'step', 'step'];
        expect(turns, said(done)).to.deep.equal(isByText ? steps : [...steps, 'text']);
        expect(script.calls.length - turns.length).to.be.at.most(agent.asides);
        expect(requests.filter(({ status }) => status !== 200 && status !== 101)).to.deep.equal([]);
        expect(done.written, said(done)).to.deep.equal(agent.writes.map(() => CONTENT));
        expect(said(done)).to.include(FINAL_TEXT);
        expect(charges.map(({ amount }) => amount).sort()).to.deep.equal(
          script.calls.map(chargeOf).sort(),
        );
        expect(charges.some(({ estimated }) => estimated)).to.equal(false);
      });
    });
  });
}

describe('coding agents whose account has no credit', function () {
  this.timeout(TEST_MS);
  const running = servedBefore(startChatWire, MODELS);

  eachAgent(AGENTS, (agent) => {
    const { calls = 1, says = /needs credit|Quota exceeded/u, status } = agent.without_credit ?? {};
    it(`${agent.title}: says so after ${calls === 1 ? 'one call' : `${calls} calls`}`, async () => {
      const { gateway, wire } = running;
      const customer = await gateway.customer(agent.title, '0');
      const place = await emptyPlace();
      wire.script.begin(agent.steps(place.files));
      const way = 'lines';
      const done = await run(agent, place, { ...gateway, secret: customer.secret, way });
      // The handshake of a WebSocket and the list of models cost nothing.
      const requests = (await gateway.requests(customer)).filter(({ msg }) =>
        msg.startsWith('POST '),
      );
      console.log(lineOf(agent, done, requests, []));

      expect(requests, said(done)).to.have.length.within(1, calls + agent.asides);
      expect(new Set(requests.map((request) => request.status))).to.deep.equal(new Set([402]));
      expect(said(done)).to.match(says);
      if (status === undefined) expect(done.status).not.to.equal(0);
      else expect(done.status).to.equal(status);
      expect(wire.script.calls).to.deep.equal([]);
      expect(await gateway.charges(customer)).to.deep.equal([]);
    });
  });
});

function lineOf(
  { title, package: { name } }: Agent,
  done: Run,
  requests: readonly Request[],
  charges: readonly Charge[],
): string {
  const { status, written } = done;
  const asked = requests.map(({ msg, status: code }) => `${msg} ${code}`).join(', ');
  const amounts = charges.map(({ amount }) => amount).join(' ');
  const file = written.every((text) => text === CONTENT) ? 'files written' : 'NO FILE';
  const text = said(done).includes(FINAL_TEXT) ? 'text printed' : 'NO TEXT';
  return `    ${title} (${versions[name]}): ${asked}; ${amounts}; ${file}; ${text}; exit ${status}`;
}
