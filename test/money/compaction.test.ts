import { expect } from 'chai';
import { ask, errorOf, type Answer } from '../helpers/ask.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { startResponsesServer } from '../helpers/responses-server.js';
import { openSocket } from '../helpers/socket-client.js';
import { chatJson, startUpstream, type FakeUpstream } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import { onEachStore } from '../store/helpers/ground.js';

type Item = Record<string, unknown> & { type: string };

const HELLO = { type: 'message', role: 'user', content: 'Hello!' };
const KEPT = { ...HELLO, id: 'msg_1', content: [{ type: 'input_text', text: 'Hello!' }] };
const COMPACTION = { type: 'compaction', id: 'cmp_1', encrypted_content: 'c2VjcmV0' };
const SAID = {
  type: 'message',
  id: 'msg_2',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Go on.' }],
};
const TRIGGER = { type: 'compaction_trigger' };
/** 30 tokens of fresh and 10 of cached input, and 30 of output. */
const COST_NANO = 30_000n + 10n * 100n + 30n * 2_000n;

onEachStore('a conversation that its upstream compacts', (ground) => {
  let main: FakeUpstream;
  let spare: FakeUpstream;
  let plain: FakeUpstream;
  let house: TestGateway;

  beforeEach(async () => {
    main = await startResponsesServer([{ output: [KEPT, COMPACTION] }, { output: [SAID] }]);
    spare = await startUpstream(chatJson('Go on.'));
    plain = await startUpstream(chatJson('Go on.'));
    house = await startGateway(
      `owners: { acme: { name: Acme } }
providers:
  main: { uses: openai, base_url: '${main.url}', api_key: sk }
  spare: { uses: openai, base_url: '${spare.url}', api_key: sk }
  plain: { uses: groq, base_url: '${plain.url}', api_key: sk }
models:
  smart: &smart
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: main, model: gpt-5.2 }, { provider: spare, model: gpt-5.2 }]
    limits: { max_tokens: 10000, default_max_tokens: 100 }
    price: { input_per_million: 1, cached_input_per_million: 0.1, output_per_million: 2 }
  mixed: { <<: *smart, upstreams: [{ provider: plain }, { provider: main, model: gpt-5.2 }] }
  blunt: { <<: *smart, upstreams: [{ provider: plain }] }
  safe: { <<: *smart, fallback: [blunt] }
  moved: { <<: *smart, upstreams: [{ provider: spare, model: gpt-5.2 }] }
`,
      { store: ground.place.url, credit: '1' },
    );
  });
  afterEach(async () => {
    for (const one of [main, spare, plain]) await one.close();
  });

  const post = (path: string, body: object, secret = house.secret): Promise<Answer> =>
    ask({ ...house, secret }, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const compact = (model = 'smart') => post('/v1/responses/compact', { model, input: [HELLO] });
  const compacted = async (): Promise<Item[]> => {
    const { status, text } = await compact();
    expect(status, text).to.equal(200);
    return (JSON.parse(text) as { output: Item[] }).output;
  };
  const charges = async (): Promise<bigint[]> => {
    const { store } = house.gateway;
    const rows = await store.ledger(house.account.id, { limit: 99 });
    expect(await store.verify()).to.deep.include({ faults: [] });
    expect((await store.account(house.account.id))?.held_nano).to.equal(0n);
    return rows.filter(({ kind }) => kind === 'charge').map(({ amount_nano }) => -amount_nano);
  };
  const inputOf = ({ requests }: FakeUpstream): Item[] => {
    const sent = requests.at(-1)?.json as { input: Item[] } | undefined;
    return sent?.input ?? [];
  };

  it('is answered unchanged but for the seal, charged by its usage and recorded', async () => {
    const { status, text, headers } = await post('/v1/responses/compact', {
      model: 'smart',
      instructions: 'Be brief.',
      input: [HELLO],
      max_output_tokens: 20,
    });
    expect(status, text).to.equal(200);
    const { object, output, usage } = JSON.parse(text) as Record<string, Item[]>;
    expect(object).to.equal('response.compaction');
    expect(output?.[0]).to.deep.equal(KEPT);
    expect(output?.[1]).to.have.keys(['type', 'id', 'encrypted_content']);
    expect(output?.[1]).to.include({ type: 'compaction', id: 'cmp_1' });
    expect(output?.[1]?.encrypted_content).to.match(/^tg1\./u);
    expect(usage).to.deep.include({ input_tokens: 40, output_tokens: 30, total_tokens: 70 });
    expect(headers.get('tollgate-ignored')).to.equal('max_output_tokens');
    expect(main.requests.at(-1)?.json).to.deep.include({ instructions: 'Be brief.' });
    expect(await charges()).to.deep.equal([COST_NANO]);
    const id = headers.get('x-request-id') ?? '';
    const { requests } = house.gateway.store;
    await until(async () => (await requests.one(id)) !== undefined, 'the record');
    expect(await requests.one(id)).to.include({
      endpoint: 'responses-compact',
      status: 200,
      provider: 'main',
    });
  });

  it('goes back to its account unchanged, with what was said since', async () => {
    const output = await compacted();
    const { status } = await post('/v1/responses', { model: 'mixed', input: [...output, HELLO] });
    expect(status).to.equal(200);
    expect(inputOf(main)).to.deep.equal([
      { type: 'message', role: 'user', content: 'Hello!' },
      COMPACTION,
      { type: 'message', role: 'user', content: 'Hello!' },
    ]);
    expect([spare.requests.length, plain.requests.length]).to.deep.equal([0, 0]);
    expect(await charges()).to.deep.equal([COST_NANO, COST_NANO]);
  });

  it('is not answered by another account while its own fails', async () => {
    const output = await compacted();
    await main.close();
    const { status } = await post('/v1/responses', { model: 'smart', input: [...output, HELLO] });
    expect(status).to.equal(502);
    expect(spare.requests).to.have.length(0);
    expect(await charges()).to.deep.equal([COST_NANO]);
  });

  it('goes on without its memory at a fallback model, which is told so', async () => {
    const output = await compacted();
    await main.close();
    const { status } = await post('/v1/responses', { model: 'safe', input: [...output, HELLO] });
    expect(status).to.equal(200);
    expect(spare.requests).to.have.length(0);
    expect(plain.requests[0]?.body).to.include('its summary cannot be read here');
  });

  for (const model of ['blunt', 'moved']) {
    it(`goes on without its memory at ${model}, which is named and told to the model`, async () => {
      const output = await compacted();
      const { status, headers, text } = await post('/v1/responses', {
        model,
        input: [...output, HELLO],
      });
      expect(status, text).to.equal(200);
      expect(headers.get('tollgate-ignored')).to.equal('input[].compaction');
      const [{ json } = { json: {} }] = model === 'blunt' ? plain.requests : spare.requests;
      const { messages } = json as { messages: { content: string }[] };
      expect(messages.map(({ content }) => content)).to.deep.equal([
        'Hello!',
        '(The conversation before this was compacted, and its summary cannot be read here.)',
        'Hello!',
      ]);
    });
  }

  it('says the same of a compaction that came from elsewhere', async () => {
    const input = [COMPACTION, HELLO];
    const { status, headers } = await post('/v1/responses', { model: 'moved', input });
    expect(status).to.equal(200);
    expect(headers.get('tollgate-ignored')).to.equal('input[].compaction');
  });

  for (const stream of [true, false]) {
    it(`is compacted by an item at the end, stream: ${stream}, within the whole limit`, async () => {
      const input = [HELLO, TRIGGER];
      const { text } = await post('/v1/responses', { model: 'smart', input, stream });
      expect(text).to.match(/"type":"compaction","encrypted_content":"tg1\./u);
      expect(inputOf(main).at(-1)).to.deep.equal(TRIGGER);
      expect(main.requests[0]?.json).to.include({ max_output_tokens: 10_000, stream });
      expect(await charges()).to.deep.equal([COST_NANO]);
    });
  }

  it('is compacted in turns of a WebSocket, which remembers the compaction', async () => {
    const socket = await openSocket(house);
    const first = await socket.turn({ model: 'smart', input: [HELLO, TRIGGER] });
    const done = socket.frames.filter(({ type }) => type === 'response.output_item.done');
    const items = done.map(({ item }) => item as Item);
    expect(items.map(({ type }) => type)).to.deep.equal(['message', 'compaction']);
    const { id: previous_response_id } = first.response as { id: string };
    const second = await socket.turn({ model: 'smart', previous_response_id, input: 'And now?' });
    expect(second.type).to.equal('response.completed');
    const types = inputOf(main).map(({ type }) => type);
    expect(types).to.include('compaction').and.not.include('compaction_trigger');
    socket.ws.close();
    expect(await charges()).to.deep.equal([COST_NANO, COST_NANO]);
  });

  it('is a 400 in words where no upstream of the model compacts, and costs nothing', async () => {
    const asked = { model: 'blunt', input: [HELLO] };
    for (const answer of [
      await post('/v1/responses/compact', asked),
      await post('/openai/v1/responses/compact', asked),
      await post('/v1/responses', { model: 'blunt', input: [HELLO, TRIGGER], stream: true }),
    ]) {
      const { message, code } = errorOf(answer);
      expect([answer.status, code]).to.deep.equal([400, 'unsupported_capability']);
      expect(message).to.match(/^blunt cannot compact .* POST \/v1\/responses/u);
    }
    expect(plain.requests).to.have.length(0);
    expect(await charges()).to.deep.equal([]);
  });

  it('is a 402 without the money for its whole answer, and is not cut to fit', async () => {
    const { store } = house.gateway;
    const poor = await store.createAccount('poor', 0n);
    await store.credit(poor.id, 15_000_000n, 'paid');
    const { secret } = await store.createKey(poor.id, 'k');
    const asked = { model: 'smart', input: [HELLO] };
    const { status } = await post('/v1/responses/compact', asked, secret);
    expect(status).to.equal(402);
    expect(main.requests).to.have.length(0);
  });

  it('costs nothing where the upstream answers without a compaction', async () => {
    await compacted();
    const { status } = await compact('mixed');
    expect(status).to.equal(502);
    expect(await charges()).to.deep.equal([COST_NANO]);
  });
});
