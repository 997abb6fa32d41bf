import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { AGENTS, type Agent } from './agents.js';
import { installedIn } from './install.js';
import { emptyPlace, installedRoot, run, said } from './run.js';
import { serve, type Served } from './served.js';

const SHIPPED = new URL('../../gateway.yaml', import.meta.url);
const MODEL = 'sim-chat';

describe('coding agents on the first day, with the shipped gateway.yaml', function () {
  this.timeout(660_000);
  let gateway: Served;

  before(async () => {
    const yaml = await readFile(SHIPPED, 'utf8');
    gateway = await serve(yaml.replace(/^listen: .*$/mu, 'listen: 127.0.0.1:0'));
  });
  after(() => gateway?.close());

  const { failures } = installedIn(installedRoot());
  const isThere = ({ title, package: { name } }: Agent): boolean =>
    !title.includes('catalogue') && failures[name] === undefined;
  for (const agent of AGENTS.filter(isThere)) {
    it(agent.title, async () => {
      const customer = await gateway.customer(agent.title, '10');
      const place = await emptyPlace();
      const done = await run({ ...agent, model: MODEL }, place, {
        ...gateway,
        secret: customer.secret,
        way: 'lines',
      });
      const requests = await gateway.requests(customer);
      const charges = await gateway.charges(customer);
      const asked = requests.map(({ msg, status }) => `${msg} ${status}`).join(', ');
      console.log(`    ${agent.title}: ${asked}; ${charges.length} charges; exit ${done.status}`);

      expect(done.status, said(done)).to.equal(0);
      expect(done.stdout.trim(), said(done)).not.to.equal('');
      expect(requests.filter(({ status }) => status !== 200 && status !== 101)).to.deep.equal([]);
      // The handshake of a WebSocket and the list of models cost nothing.
      const calls = requests.filter(({ msg }) => msg.startsWith('POST '));
      expect(charges).to.have.length(calls.length);
    });
  }
});
