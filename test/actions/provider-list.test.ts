import { expect } from 'chai';
import type { ProviderShape, ProvidersShape } from '../../src/actions/provider-list.js';
import { expectAnswer } from '../dashboard/api/helpers/answers.js';
import {
  POLL_MS,
  START_MS,
  startVideoGateway,
  type VideoGateway,
} from '../modalities/video/helpers/video-gateway.js';

describe('the health of providers', () => {
  let studio: VideoGateway;
  let cookie: string;

  beforeEach(async () => {
    studio = await startVideoGateway();
    const { store } = studio.gateway;
    const session = { account_id: studio.account.id, email: null, via: 'link', operator: true };
    cookie = `session=${await store.sign_in.createSession(session)}`;
  });
  afterEach(() => studio.close());

  async function health(at: { url: string } = studio): Promise<ProvidersShape> {
    const answer = await fetch(`${at.url}/api/providers`, { headers: { cookie } });
    const body: unknown = await answer.json();
    expectAnswer('ProviderList', body);
    return body as ProvidersShape;
  }

  async function lab(at: { url: string } = studio): Promise<ProviderShape | undefined> {
    return (await health(at)).data.find(({ name }) => name === 'lab');
  }

  it('counts submissions and polls, well or ill', async () => {
    studio.lab.onPoll = (_film, nth) =>
      nth === 1 ? (response) => void response.writeHead(503).end() : { state: 'shooting' };
    const id = await studio.begin();
    expect(await lab()).to.include({ answered: 1, refused: 0, failed: 0 });
    studio.now_ms += POLL_MS;
    await studio.status(id);
    const ill = await lab();
    expect(ill).to.include({ answered: 1, failed: 1 });
    expect(ill?.last_failure).to.deep.equal({
      at: new Date(START_MS + POLL_MS).toISOString(),
      fault: 'overloaded',
      message: 'The upstream is overloaded.',
    });
    studio.now_ms += POLL_MS;
    await studio.status(id);
    const well = await lab();
    expect(well).to.include({ answered: 2, failed: 1 });
    expect(well?.last_success).to.equal(new Date(START_MS + 2 * POLL_MS).toISOString());
  });

  it('does not blame a provider for what a client has asked for', async () => {
    studio.lab.onSubmit = () => (response) =>
      void response.writeHead(400, { 'content-type': 'text/plain' }).end('No cats, says bob.');
    expect((await studio.submit()).status).to.equal(400);
    const shown = await lab();
    expect(shown).to.include({ answered: 0, refused: 1, failed: 0, last_failure: null });
    expect(JSON.stringify(await health())).not.to.include('cats');
  });

  it('tells which upstreams are left alone, and for how long', async () => {
    const { rests } = studio.gateway.store;
    const rest = { provider: 'lab', model: 'film', fault: 'timeout', failures: 2 };
    const times = { since_ms: START_MS, until_ms: START_MS + 2_000 };
    const full = { ...rest, ...times, told_until_ms: START_MS + 2_000, probe_until_ms: 0 };
    await rests.exchange([{ is_over: false, rest: full, sets_probe: false }]);
    const shown = {
      model: 'film',
      fault: 'timeout',
      failures: 2,
      since: new Date(START_MS).toISOString(),
      until: new Date(START_MS + 2_000).toISOString(),
      told: true,
    };
    expect((await lab())?.resting).to.deep.equal([shown]);
    const resume = await fetch(`${studio.url}/api/providers/lab/resume`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    const resumed: unknown = await resume.json();
    expectAnswer('ResumedProvider', resumed);
    expect(resumed).to.deep.equal({ provider: 'lab', models: ['film'] });
    expect((await lab())?.resting).to.deep.equal([]);
  });

  it('forgets after some minutes how often, and remembers when last', async () => {
    await studio.begin();
    studio.now_ms += 6 * 60_000;
    const { window_s } = await health();
    expect(window_s).to.equal(300);
    expect(await lab()).to.include({ answered: 0, last_success: new Date(START_MS).toISOString() });
  });

  it('is summed over the processes of a store, whichever is asked', async () => {
    const other = await studio.another();
    try {
      await studio.begin();
      await fetch(`${other.url}/v1/queue/sibling`, {
        method: 'POST',
        headers: { authorization: `Bearer ${studio.secret}`, 'content-type': 'application/json' },
        body: '{"prompt":"a dog"}',
      });
      expect(await health(other)).to.include({ processes: 2 });
      expect(await lab()).to.include({ answered: 2 });
      expect(await lab(other)).to.include({ answered: 2 });
    } finally {
      await other.close();
    }
    expect(await health()).to.include({ processes: 1 });
    expect(await lab()).to.include({ answered: 1 });
  });

  it('shows the providers of the present file, those that nobody has called too', async () => {
    const { data } = await health();
    const names = [...studio.gateway.configuration.providers.keys()];
    expect(data.map(({ name }) => name)).to.deep.equal(names);
    expect(data.find(({ name }) => name === 'simulator')).to.include({ answered: 0 });
  });
});
