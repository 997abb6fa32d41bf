import { expect } from 'chai';
import pg from 'pg';
import { pino } from 'pino';
import { plainError } from '../../src/telemetry/plain-error.js';
import { chatJson } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import { startCluster, type Cluster } from '../store/helpers/cluster.js';
import { closeAndAudit, HELLO, startScriptedGateway } from './helpers/scripted-gateway.js';

describe('a call while PostgreSQL is read-only', () => {
  let cluster: Cluster;

  before(async function () {
    this.timeout(60_000);
    if (!process.env.TOLLGATE_TEST_POSTGRES) this.skip();
    cluster = await startCluster();
  });

  after(() => cluster?.stop());

  it('is 503 with Retry-After and one line without a stack, not 500', async () => {
    const lines: string[] = [];
    const options = { level: 'error', serializers: { err: plainError } };
    const log = pino(options, { write: (line: string) => void lines.push(line) });
    const store = JSON.stringify(cluster.url);
    const house = await startScriptedGateway({ up: chatJson('x') }, { store, log });
    const client = new pg.Client({ connectionString: cluster.url });
    await client.connect();
    const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
      await client.query(`alter system set default_transaction_read_only = ${value}`);
      await client.query('select pg_reload_conf()');
      const shown = async () => (await client.query('show default_transaction_read_only')).rows[0];
      await until(async () => Object.values(await shown())[0] === value, 'the server has it');
    };
    try {
      expect((await house.post(HELLO)).status).to.equal(200);
      await house.settled();
      await setReadOnly('on');
      const answer = await house.post(HELLO);
      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '5']);
      const id = answer.headers.get('x-request-id') ?? '';
      expect(lines.filter((line) => line.includes(id))).to.have.length(1);
      expect(lines.join('')).to.not.include('"stack"');
      await setReadOnly('off');
      expect((await house.post(HELLO)).status).to.equal(200);
      await house.settled();
    } finally {
      await client.query('set default_transaction_read_only = off');
      await client.query('alter system reset default_transaction_read_only');
      await client.query('select pg_reload_conf()');
      await client.end();
      await closeAndAudit(house);
    }
  });
});
