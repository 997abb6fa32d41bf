import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import {
  PNG,
  refusal,
  startMedia,
  type MediaHouse,
  UPSTREAM_KEY,
} from '../mapping/helpers/manifest-gateway.js';
import { play, startUpstream, type FakeUpstream, type Step } from '../helpers/upstream.js';

const json = (body: object, status = 200): Step => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const state = (status: string, more: object = {}): Step => json({ id: 'b1', status, ...more });

/** The shipped manifest, which asks one more host with the key, and files at another. */
async function manifest(region: FakeUpstream, files: FakeUpstream): Promise<string> {
  const text = await readFile(new URL('../../providers/bfl.yaml', import.meta.url), 'utf8');
  const host = ({ url }: FakeUpstream): string => JSON.stringify(new URL(url).host);
  const wire = `wire: { key_hosts: [${host(region)}], image_hosts: [${host(files)}] }`;
  return text.replace(/^wire: .*$/mu, wire);
}

describe('the manifest of Black Forest Labs', () => {
  let house: MediaHouse;
  let region: FakeUpstream;
  let files: FakeUpstream;
  let states: Step[];
  let polls: number;
  const ready = (): Step => state('Ready', { result: { sample: `${files.url}/out.png?sig=1` } });

  beforeEach(async () => {
    polls = 0;
    region = await startUpstream(async (_, response) => {
      polls += 1;
      await play(states[Math.min(polls, states.length) - 1] ?? {}, response);
    });
    files = await startUpstream({ body: Buffer.from(PNG, 'base64') });
    states = [state('Pending'), ready()];
    house = await startMedia({
      provider: 'uses: ./flux.yaml, poll_interval: 10ms, timeout: { total: 2s }',
      model: 'flux-pro-1.1',
      script: () => ({ json: { id: 'b1', polling_url: `${region.url}/v1/get_result?id=b1` } }),
      files: { 'flux.yaml': await manifest(region, files) },
      capability: 'image',
    });
  });
  afterEach(async () => {
    await house.close();
    await region.close();
    await files.close();
  });

  const draw = (body: object = {}) => house.draw({ response_format: 'b64_json', ...body });

  it('polls the address that it is given until the image is ready, and charges it once', async () => {
    states = [state('Pending'), json({ id: 'b1', state: 'Reasoning' }), ready()];
    const { status, text } = await draw({ size: '1024x768', seed: 7 });
    expect(status, text).to.equal(200);
    expect(JSON.parse(text)).to.have.nested.property('data[0].b64_json', PNG);
    const [submit, ...more] = house.upstream.requests;
    expect(more).to.deep.equal([]);
    expect(submit?.path).to.equal('/flux-pro-1.1');
    expect(submit?.json).to.deep.equal({ prompt: 'a cat', width: 1024, height: 768, seed: 7 });
    expect(region.requests.map(({ path }) => path)).to.deep.equal(
      Array.from({ length: 3 }, () => '/v1/get_result?id=b1'),
    );
    const rows = await house.gateway.store.ledger(house.account.id, { limit: 10 });
    expect(rows.filter(({ kind }) => kind === 'charge')).to.have.length(1);
  });

  it('sends its key to the hosts that its manifest lists, and not to those of files (quirk 25)', async () => {
    await draw();
    expect(house.upstream.requests[0]?.headers['x-key']).to.equal(UPSTREAM_KEY);
    expect(region.requests[0]?.headers['x-key']).to.equal(UPSTREAM_KEY);
    expect(files.requests).to.have.length(1);
    expect(files.requests[0]?.headers).not.to.have.property('x-key');
  });

  it('asks no foreign host that a polling_url names, so that the key does not leave (quirk 25)', async () => {
    const foreign = await startUpstream({});
    house.script = () => ({ json: { id: 'b1', polling_url: `${foreign.url}/get_result` } });
    const error = refusal(await draw());
    await foreign.close();
    expect(error).to.include({ status: 502, code: 'upstream_error' });
    expect(foreign.requests).to.deep.equal([]);
  });

  for (const [status, expected, code] of [
    ['Request Moderated', 400, 'content_policy_violation'],
    ['Content Moderated', 400, 'content_policy_violation'],
    ['Error', 502, 'upstream_error'],
    ['Failed', 502, 'upstream_error'],
    ['Something new', 502, 'upstream_error'],
  ] as const) {
    it(`ends at once at "${status}", which comes in a 200, and charges nothing`, async () => {
      states = [state(status)];
      const error = refusal(await draw());
      expect(error).to.include({ status: expected, code });
      expect(polls).to.equal(1);
      const { faults } = await house.gateway.store.verify();
      expect(faults).to.deep.equal([]);
      const rows = await house.gateway.store.ledger(house.account.id, { limit: 10 });
      expect(rows.filter(({ kind }) => kind === 'charge')).to.deep.equal([]);
    });
  }

  it('goes on asking after a few failed polls, and where the task is not known yet', async () => {
    states = [state('Task not found'), json({}, 503), { destroyAfter: -1 }, json({}, 500), ready()];
    expect((await draw()).status).to.equal(200);
    expect(polls).to.equal(5);
  });

  it('gives up where every poll fails, or where the image never comes', async () => {
    states = [json({ detail: 'No.' }, 500)];
    expect(refusal(await draw()).status).to.equal(502);
    expect(polls).to.equal(4);
    states = [state('Pending')];
    const error = refusal(await draw());
    expect(error.message).to.include('too long');
    expect(polls).to.equal(4 + 200);
  });

  it('edits images, given as base64 without a prefix', async () => {
    const url = `data:image/png;base64,${PNG}`;
    const body = JSON.stringify({ model: 'o/m', prompt: 'a hat', image: [url, url] });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const headers = { ...init.headers, authorization: `Bearer ${house.secret}` };
    const response = await fetch(`${house.url}/v1/images/edits`, { ...init, headers });
    expect(response.status, await response.text()).to.equal(200);
    expect(house.upstream.requests[0]?.json).to.deep.equal({
      prompt: 'a hat',
      input_image: PNG,
      input_image_2: PNG,
    });
  });

  it('knows that its account is out of credits', async () => {
    house.script = () => ({ status: 402, json: { detail: 'Insufficient credits.' } });
    expect(refusal(await draw())).to.include({ status: 502, code: 'upstream_error' });
  });
});
