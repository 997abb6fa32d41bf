import { expect } from 'chai';
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { chatJson } from '../../helpers/upstream.js';
import {
  closeAndAudit,
  HELLO,
  startScriptedGateway,
  ready,
  type ScriptedGateway,
} from '../../money/helpers/scripted-gateway.js';
import { pino } from 'pino';
import { join } from 'node:path';

describe('a SQLite file that is deleted while a gateway runs', () => {
  let house: ScriptedGateway;
  let file: string;
  const lines: string[] = [];

  beforeEach(async () => {
    lines.length = 0;
    const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
    house = await startScriptedGateway({ up: chatJson('Hello') }, { log });
    file = join(house.folder, 'tollgate.db');
  });
  afterEach(() => closeAndAudit(house));

  const ask = async (): Promise<number> => {
    const response = await house.post(HELLO);
    await response.text();
    return response.status;
  };
  const probe = async (): Promise<object> => {
    const response = await fetch(`${house.url}/readyz`);
    return { ...((await response.json()) as object), status: response.status };
  };

  it('makes it not ready, and is noticed at the next charge', async () => {
    expect(await ask()).to.equal(200);
    renameSync(file, `${file}.away`);
    // This one was held in the file before anybody looked; its charge is kept in the journal.
    expect(await ask()).to.equal(200);
    const answer = (await probe()) as { status: number; reason: string };
    expect(answer.status).to.equal(503);
    expect(answer.reason).to.include('the file of the store was deleted or replaced');
    expect(answer.reason).to.include('1 charges wait in the journal');
    expect(await ask(), 'nothing more is admitted').to.equal(500);
    renameSync(`${file}.away`, file);
    await ready(house);
    await house.settled();
    expect(await house.charges()).to.have.length(2);
  });

  it('is told from another file in its place', async () => {
    copyFileSync(file, `${file}.copy`);
    renameSync(file, `${file}.away`);
    renameSync(`${file}.copy`, file);
    expect(await probe()).to.deep.equal({
      status: 503,
      reason: 'the file of the store was deleted or replaced',
    });
    rmSync(file);
    renameSync(`${file}.away`, file);
    expect(await probe()).to.deep.equal({ status: 200 });
  });
});
