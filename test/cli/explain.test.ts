import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { makePlace, type Place } from '../helpers/cli.js';
import { chatJson, startUpstream, type FakeUpstream } from '../helpers/upstream.js';

const YAML = `store: sqlite:data/tollgate.db
owners: { me: { name: Me } }
providers:
  simulator: {}
  spare: { uses: simulator }
  jobs: { uses: videos-api, base_url: 'http://127.0.0.1:9/v1' }
models:
  talk:
    owner: me
    capabilities: [chat, vision]
    upstreams:
      - { provider: simulator, weight: 3 }
      - { provider: spare, model: talk-2, price: { input_per_million: 1, output_per_million: 4, cached_input_per_million: 0.1, audio_output_per_million: 5 } }
    limits: { max_tokens: 200 }
    price: { input_per_million: 1, output_per_million: 2 }
  gift: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free, as: [claude-gift] }
  present: { alias: gift }
  paint: { owner: me, capabilities: [image], upstreams: [{ provider: simulator }], price: { per_image: { hd: 0.08 } } }
  film: { owner: me, capabilities: [video], upstreams: [{ provider: simulator }], limits: { duration_seconds: 6, resolutions: [1080p] }, price: { per_video_second: { 720p: { audio: 0.04 }, 1080p: { silent: 0.03 } } } }
  loud: { owner: me, capabilities: [video], upstreams: [{ provider: jobs }], limits: { duration_seconds: 6 }, price: { per_video_second: 0.01 } }
  both: { owner: me, capabilities: [video], upstreams: [{ provider: simulator }], price: { per_video_second: { 720p: { silent: 0.02, audio: 0.04 } } } }
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

  it('tells the other names of a model, and which model a name is of', async () => {
    expect(await place.json('explain', 'gift')).to.deep.include({
      model: 'gift',
      aliases: ['present', 'claude-gift'],
    });
    expect(await place.json('explain', 'claude-gift')).to.deep.include({
      model: 'gift',
      alias: 'claude-gift',
      aliases: ['present'],
    });
    const { stdout: text } = await place.tollgate('explain', 'claude-gift');
    expect(text).to.include('claude-gift is an alias of gift.\ngift is also called present.\n');
  });

  it('shows the stages, the upstreams and a bill at the price of each', async () => {
    const { endpoints, upstreams, bills } = await place.json<Explained>('explain', 'talk');
    expect(endpoints.map(({ at }) => at)).to.deep.equal([
      'POST /v1/chat/completions',
      'POST /openai/v1/chat/completions',
      'POST /v1/completions',
      'POST /openai/v1/completions',
      'POST /v1/messages',
      'POST /v1/messages/count_tokens',
      'POST /v1/responses',
      'POST /openai/v1/responses',
      'POST /v1/responses/input_tokens',
      'POST /openai/v1/responses/input_tokens',
      'POST /v1/responses/compact',
      'POST /openai/v1/responses/compact',
      'POST /v1beta/models/{model}:generateContent',
      'POST /v1/models/{model}:generateContent',
      'POST /v1beta/models/{model}:streamGenerateContent',
      'POST /v1/models/{model}:streamGenerateContent',
      'POST /v1beta/models/{model}:countTokens',
      'POST /v1/models/{model}:countTokens',
    ]);
    expect(endpoints[0]?.stages).to.include('route: { capability: chat }');
    expect(upstreams.map(({ provider, model, weight }) => [provider, model, weight])).to.deep.equal(
      [
        ['simulator', 'talk', 3],
        ['spare', 'talk-2', null],
      ],
    );
    expect(upstreams[0]).to.deep.include({ retry: { attempts: 1 } });
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

  const others: [model: string, charge: string, request: string, provider?: string][] = [
    ['gift', '0.00', 'chat:'],
    ['paint', '0.08', 'image: one image, hd'],
    ['film', '0.18', 'video: 6 seconds of 1080p, silent'],
    // The wire makes no silent video, and none of six seconds.
    ['loud', '0.04', 'video: 4 seconds of 720p, audio', 'jobs'],
    // The default video, though the silent one stands first in the price.
    ['both', '0.32', 'video: 8 seconds of 720p, audio'],
  ];
  for (const [model, charge, request, provider = 'simulator'] of others) {
    it(`works out ${charge} for "${request}"`, async () => {
      const { bills } = await place.json<Explained>('explain', model);
      expect(bills).to.have.length(1);
      expect(bills[0]?.request).to.include(request);
      expect(bills[0]?.held).to.equal(charge);
      expect(bills[0]?.charges).to.deep.equal([{ provider, charge }]);
    });
  }

  it('prints the same facts as text', async () => {
    const { status, stdout } = await place.tollgate('explain', 'film');
    expect(status).to.equal(0);
    expect(stdout)
      .to.include('film does video; its owner is me.')
      .and.include('  GET /v1/queue/{model}/requests/{requestID}\n    auth > route: task > ')
      .and.include('1080p/silent $0.03')
      .and.include('  charged if simulator answers  $0.18\n')
      .and.not.match(/[ \t]$/mu);
    const long = stdout.split('\n').filter((line) => line.length > 80);
    expect(long, 'lines wider than a terminal of 80 columns').to.deep.equal([]);
  });

  it('refuses a faulty file', async () => {
    const broken = await makePlace(YAML.replace('owner: me', 'owner: you'));
    const { status, stdout, stderr } = await broken.tollgate('explain', 'talk');
    await broken.close();
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.include('"you"');
  });
});

const PRICED = `listen: 127.0.0.1:0
store: sqlite:data/tollgate.db
owners: { me: { name: Me } }
providers:
  openai: { api_key: sk-very-secret-key-1, base_url: 'URL/v1', headers: { X-Team: hunter2 } }
  anthropic: { api_key: short, base_url: 'URL' }
  gemini: { api_key: short, discount: 20% }
  simulator: {}
models:
  talk:
    owner: me
    capabilities: [chat]
    upstreams:
      - { provider: openai, model: gpt-4o-mini, weight: 3 }
      - { provider: openai, model: gpt-4o, weight: 1, set: { temperature: 0.2 } }
      - { provider: anthropic, model: claude-haiku-4-5, price: list }
    limits: { max_tokens: 200 }
    price: { input_per_million: 0.3, output_per_million: 0.5 }
    cache: auto
  paint: { owner: me, capabilities: [image], upstreams: [{ provider: openai, model: gpt-image-1 }], price: { per_image: 0.04 } }
  flat: { owner: me, capabilities: [chat], upstreams: [{ provider: gemini, model: gemini-2.5-pro }], price: { input_per_million: 1.25, output_per_million: 10 } }
  long: { owner: me, capabilities: [chat], upstreams: [{ provider: gemini, model: gemini-2.5-pro }], price: list }
  film: { owner: me, capabilities: [video], upstreams: [{ provider: simulator }], limits: { duration_seconds: 6 }, price: { per_video_second: 0.04 } }
`;

interface Margin {
  unit: string;
  percent: number | null;
  list: string;
}

interface Previewed {
  cache?: string;
  upstreams: {
    provider: string;
    share_percent: number;
    price: object;
    cost: object;
    margins: Margin[];
  }[];
  defaults: Record<string, Record<string, unknown>>;
  preview: {
    at: string;
    ignored: string[];
    upstreams: {
      provider: string;
      refusal: string | null;
      requests: {
        method: string;
        url: string | null;
        headers: Record<string, string>;
        body: Record<string, unknown>;
      }[];
    }[];
  };
}

describe('tollgate explain with prices and a body', function () {
  let place: Place;
  let upstream: FakeUpstream;

  before(async () => {
    upstream = await startUpstream(chatJson('Hi!'));
    place = await makePlace(PRICED.replaceAll('URL', upstream.url));
  });
  after(async () => {
    await place.close();
    await upstream.close();
  });

  it('shows shares in per cent, margins, and what a client leaves out', async () => {
    const { cache, upstreams, defaults } = await place.json<Previewed>('explain', 'talk');
    expect(cache).to.equal('auto');
    expect(upstreams.map(({ share_percent }) => share_percent)).to.deep.equal([75, 25, 100]);
    const [mini, large, haiku] = upstreams.map(({ margins }) =>
      margins.map(({ unit, percent, list }) => [unit, percent, list]),
    );
    expect(mini).to.deep.include.members([
      ['input_per_million', 50, '0.15'],
      ['output_per_million', -20, '0.60'],
    ]);
    expect(large?.[0]?.slice(0, 2)).to.deep.equal(['input_per_million', -733.3]);
    expect(haiku?.every(([, percent]) => percent === 0)).to.equal(true);
    expect(defaults).to.deep.equal({ chat: { n: 1, stream: false, max_tokens: 200 } });
    const film = await place.json<Previewed>('explain', 'film');
    expect(film.defaults.video).to.include({ generate_audio: true, duration_seconds: 6 });
    const { stdout } = await place.tollgate('explain', 'talk');
    expect(stdout)
      .to.include('openai: gpt-4o-mini, weight 3: 75 % of the calls\n')
      .and.include('Conversations whose client marks no cache get marks where it pays.\n')
      .and.match(/output_per_million margin -20 %: the list price of \d{4}-\d\d-\d\d is \$0\.60\n/u)
      .and.match(/In chat, what a client leaves out\n {2}n +1\n/u);
  });

  it('shows the loss at a price that is the same for prompts that cost the provider more', async () => {
    const { upstreams } = await place.json<Previewed>('explain', 'flat');
    const margins = upstreams[0]?.margins.map(({ unit, percent, list }) => [unit, percent, list]);
    expect(margins).to.deep.include.members([
      ['input_per_million', 0, '1.25'],
      ['long_prompt input_per_million', -100, '2.50'],
      ['long_prompt output_per_million', -50, '15.00'],
    ]);
    const { stdout } = await place.tollgate('explain', 'long');
    expect(stdout).to.include(
      'long_prompt above_tokens 200000, input_per_million $2.50, cached_input_per_million $0.25, ',
    );
  });

  it('shows what clients pay, and what the upstream takes after its discount', async () => {
    const { upstreams } = await place.json<Previewed>('explain', 'flat');
    expect(upstreams[0]).to.deep.include({
      price: { input_per_million: '1.25', output_per_million: '10.00' },
      cost: { input_per_million: '1.00', output_per_million: '8.00' },
    });
    const { stdout } = await place.tollgate('explain', 'flat');
    expect(stdout)
      .to.include('     output_per_million $10.00\n')
      .and.include('     it takes output_per_million $8.00\n');
    const film = await place.json<Previewed>('explain', 'film');
    expect(film.upstreams[0]?.cost).to.deep.equal(film.upstreams[0]?.price);
    expect((await place.tollgate('explain', 'film')).stdout).not.to.include('it takes');
  });

  it('shows each request as it would leave, its secrets as dots, and sends none', async () => {
    const body = { messages: [{ role: 'user', content: 'Hi' }], n: 2, foo: 1 };
    await writeFile(join(place.folder, 'body.json'), JSON.stringify(body));
    const { preview } = await place.json<Previewed>('explain', 'talk', '--body', 'body.json');
    expect(preview).to.include({ at: 'POST /v1/chat/completions' });
    expect(preview.ignored).to.deep.equal(['foo']);
    const [mini, large, haiku] = preview.upstreams.map(({ requests }) => requests);
    expect(mini).to.deep.equal([
      {
        method: 'POST',
        url: `${upstream.url}/v1/chat/completions`,
        headers: {
          'content-type': 'application/json',
          'accept-encoding': 'identity',
          authorization: 'Bearer ········',
          'x-team': '········',
        },
        body: {
          model: 'gpt-4o-mini',
          messages: [{ role: 'user', content: 'Hi' }],
          stream: false,
          max_tokens: 200,
          n: 2,
        },
      },
    ]);
    expect(large?.[0]?.body).to.include({ model: 'gpt-4o', temperature: 0.2 });
    // Its wire makes one choice a call.
    expect(haiku).to.have.length(2);
    expect(haiku?.[0]?.headers).to.include({ 'x-api-key': '········' });
    expect(haiku?.[0]?.headers['anthropic-version']).to.match(/^\d{4}-\d\d-\d\d$/u);
  });

  it('shows what a gateway then sends', async () => {
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], model: 'talk' });
    const { preview } = await place.json<Previewed>('explain', 'talk', '--body', body);
    expect(upstream.requests, 'contacts nothing').to.deep.equal([]);
    const shown = preview.upstreams.flatMap(({ requests }) => requests);
    const { secret } = await place.customer('ann');
    const serving = place.begin('serve');
    const answer = await fetch(`${await serving.url()}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body,
    });
    expect(answer.status, await answer.text()).to.equal(200);
    await serving.stop();
    const [sent] = upstream.requests;
    const { model } = (sent?.json ?? {}) as { model?: unknown };
    const same = shown.find((request) => request.body.model === model);
    expect(same?.body).to.deep.equal(sent?.json);
    expect(same?.url).to.equal(upstream.url + (sent?.path ?? ''));
    const headers = sent?.headers ?? {};
    // Those of the connection are none of the request's.
    const own = ['host', 'connection', 'content-length'];
    const names = Object.keys(headers).filter((name) => !own.includes(name));
    expect(Object.keys(same?.headers ?? {})).to.have.members(names);
    expect(headers.authorization).to.equal('Bearer sk-very-secret-key-1');
  });

  it('prints them as text, and says where nothing leaves', async () => {
    const film = ['--body', '{"prompt":"A fox","parameters":{"resolution":"720p"}}'];
    const { stdout } = await place.tollgate('explain', 'film', ...film);
    expect(stdout)
      .to.include('The body at POST /v1/queue/{model}\n')
      .and.include('(answered in this process, so nothing leaves)')
      .and.include('"audio": true')
      .and.not.include('left out: model');
    const asked = { messages: [{ role: 'user', content: 'Hi' }], n: 2, reasoning_effort: 'low' };
    const talk = ['--body', JSON.stringify(asked)];
    const text = (await place.tollgate('explain', 'talk', ...talk)).stdout;
    expect(text)
      .to.include('and the same once more')
      .and.include('openai: gpt-4o-mini\n    left out: reasoning_effort\n')
      .and.not.match(/sk-very|hunter2|short/u);
  });

  const refused: [name: string, body: string, words: string][] = [
    ['what the gateway refuses', '{"messages":[]}', 'would refuse this body with invalid_request'],
    ['what is no JSON', '{"messages":', '--body is not JSON'],
    ['what is no object', 'list.json', 'must be a JSON object'],
    ['a file that is not there', 'none.json', 'none.json cannot be read'],
  ];
  for (const [name, body, words] of refused) {
    it(`refuses ${name} in one sentence`, async () => {
      await writeFile(join(place.folder, 'list.json'), '[1]');
      const { status, stdout, stderr } = await place.tollgate('explain', 'talk', '--body', body);
      expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr)
        .to.include(words)
        .and.match(/^tollgate: .*\n$/u);
    });
  }

  it('needs the variables of the providers that the model uses, and of no others', async () => {
    const yaml = YAML.replace(
      'spare: {',
      "other: { uses: openai, api_key: '${OTHER_KEY}' }\n  spare: {",
    )
      .replace(
        'models:',
        'models:\n  far: { owner: me, capabilities: [chat], upstreams: [{ provider: other, model: far }], price: free }',
      )
      .replace('sqlite:data/tollgate.db', "'${STORE_URL}'");
    const own = await makePlace(yaml);
    try {
      expect(await own.tollgate('explain', 'gift')).to.include({ status: 0, stderr: '' });
      const far = await own.tollgate('explain', 'far');
      expect(far.status).to.equal(1);
      expect(far.stderr).to.include('OTHER_KEY').and.not.include('STORE_URL');
      expect((await own.tollgate('explain', 'nothing')).stderr).to.include('no model "nothing"');
    } finally {
      await own.close();
    }
  });
});
