import { expect } from 'chai';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import type { RequestRecord } from '../../src/core/request-record.js';
import { openStore } from '../../src/store/open.js';

import { until } from '../helpers/until.js';
import { never, STREAM, talking } from './helpers/disconnecting.js';
import {
  closeAndAudit,
  HELLO,
  startScriptedGateway,
  type Script,
} from './helpers/scripted-gateway.js';

describe('an attempt that the gateway cuts because it stops', () => {
  /** The record of a call that outlives the drain, and the text of its answer. */
  async function stopped(script: Script, body: object) {
    const house = await startScriptedGateway({ up: script }, {});
    try {
      const asked = house.post(body).then((answer) => answer.text());
      await until(() => house.upstream.requests.length === 1, 'a call upstream');
      await house.gateway.stop();
      const store = await openStore(house.gateway.configuration.store, { now: Date.now });
      const [record] = await store.requests.page({ limit: 1 });
      await store.close();
      return { record, text: await asked };
    } finally {
      await closeAndAudit(house).catch(() => undefined);
    }
  }

  function expectBlameless(record: RequestRecord | undefined): void {
    expect(record?.code).to.equal('draining');
    expect(record?.attempts).to.have.length(1);
    expect(record?.attempts[0]).to.deep.include({
      fault: 'gateway_stopped',
      status: null,
      codes: null,
      message: 'The gateway stopped before the answer was whole.',
    });
  }

  it('was counted as a broken upstream', async () => {
    const { record, text } = await stopped({ hold: never }, HELLO);
    expect(text).to.contain('draining');
    expectBlameless(record);
    expect(record?.status).to.equal(503);
  });

  it('was counted as a broken upstream in the middle of a stream', async () => {
    const { record, text } = await stopped(talking([never]), STREAM);
    expect(text).to.contain(' two').and.contain('draining');
    expectBlameless(record);
  });

  it('was told as an unreadable answer where the upstream compresses it', async () => {
    const start = gzipSync(JSON.stringify({ choices: [] })).subarray(0, 12);
    const script: Script = async (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' });
      response.write(start);
      await once(response, 'close');
    };
    expectBlameless((await stopped(script, HELLO)).record);
  });
});
