import { expect } from 'chai';
import { makePlace, type Place } from '../helpers/cli.js';

const YAML = `store: sqlite:data/tollgate.db
owners: { me: { name: Me } }
providers:
  simulator: {}
  spare: { uses: simulator }
models:
  talk:
    owner: me
    capabilities: [chat, vision]
    upstreams:
      - { provider: simulator, weight: 3 }
      - { provider: spare, model: talk-2, price: { input_per_million: 1, output_per_million: 4, cached_input_per_million: 0.1, audio_output_per_million: 5 } }
    limits: { max_tokens: 200 }
    price: { input_per_million: 1, output_per_million: 2 }
  gift: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }
  paint: { owner: me, capabilities: [image], upstreams: [{ provider: simulator }], price: { per_image: { hd: 0.08 } } }
  film: { owner: me, capabilities: [video], upstreams: [{ provider: simulator }], limits: { duration_seconds: 6, resolutions: [1080p] }, price: { per_video_second: { 720p: { audio: 0.04 }, 1080p: { silent: 0.03 } } } }
`;

interface Explained {
  endpoints: { at: string; stages: string[] }[];
  upstreams: { provider: string; model: string; weight: number | null; price: unknown }[];
  bills: {
    request: string;
    held: string;
    charges: { provider: string; charge: string }[];
  }[];
}

describe('tollgate explain', () => {
  let place: Place;

  before(async () => {
    place = await makePlace(YAML);
  });
  after(() => place.close());

  it('shows the stages, the upstreams and a bill at the price of each', async function () {
    this.timeout(60_000);
    const { endpoints, upstreams, bills } = await place.json<Explained>('explain', 'talk');
    expect(endpoints.map(({ at }) => at)).to.deep.equal([
      'POST /v1/chat/completions',
      'POST /openai/v1/chat/completions',
      'POST /v1/completions',
      'POST /v1/messages',
      'POST /v1/messages/count_tokens',
      'POST /v1/responses',
      'POST /v1beta/models/{model}:generateContent',
      'POST /v1beta/models/{model}:streamGenerateContent',
      'POST /v1beta/models/{model}:countTokens',
      'POST /openai/v1/responses',
      'POST /v1/models/{model}:generateContent',
      'POST /v1/models/{model}:streamGenerateContent',
      'POST /v1/models/{model}:countTokens',
    ]);
    expect(endpoints[0]?.stages).to.include('route: { capability: chat }');
    expect(upstreams.map(({ provider, model, weight }) => [provider, model, weight])).to.deep.equal(
      [
        ['simulator', 'talk', 3],
        ['spare', 'talk-2', null],
      ],
    );
    expect(upstreams[1]?.price).to.deep.equal({
      input_per_million: '1.00',
      cached_input_per_million: '0.10',
      output_per_million: '4.00',
      audio_output_per_million: '5.00',
    });
    // 1,000 tokens of prompt and 200 of answer; held are 64 + 16 + 4,000, and 200 of sound at the
    // dearer one.
    const [bill] = bills;
    expect(bill?.charges).to.deep.equal([
      { provider: 'simulator', charge: '0.0014' },
      { provider: 'spare', charge: '0.0018' },
    ]);
    expect(bill?.held).to.equal('0.00508');
    expect(bill?.request).to.include('answer of 200');
  });

  const others: [string, string, string][] = [
    ['gift', '0.00', 'chat:'],
    ['paint', '0.08', 'image: one image, hd'],
    ['film', '0.18', 'video: 6 seconds of 1080p, silent'],
  ];
  for (const [model, charge, request] of others) {
    it(`works out ${charge} for "${request}"`, async function () {
      this.timeout(60_000);
      const { bills } = await place.json<Explained>('explain', model);
      expect(bills).to.have.length(1);
      expect(bills[0]?.request).to.include(request);
      expect(bills[0]?.held).to.equal(charge);
      expect(bills[0]?.charges).to.deep.equal([{ provider: 'simulator', charge }]);
    });
  }

  it('prints the same facts as text', async function () {
    this.timeout(60_000);
    const { status, stdout } = await place.tollgate('explain', 'film');
    expect(status).to.equal(0);
    expect(stdout)
      .to.include('film does video; its owner is me.')
      .and.include('  GET /v1/queue/{model}/requests/{requestID}\n    auth > route: task > ')
      .and.include('1080p/silent $0.03')
      .and.include('  charged if simulator answers  $0.18\n')
      .and.not.match(/[ \t]$/mu);
  });

  it('refuses a faulty file', async function () {
    this.timeout(60_000);
    const broken = await makePlace(YAML.replace('owner: me', 'owner: you'));
    const { status, stdout, stderr } = await broken.tollgate('explain', 'talk');
    await broken.close();
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.include('"you"');
  });
});
