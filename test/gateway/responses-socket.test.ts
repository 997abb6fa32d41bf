import { expect } from 'chai';
import { startPaidGateway, type PaidGateway } from '../helpers/paid-gateway.js';
import { idIn, openSocket } from '../helpers/socket-client.js';
import { chatSse } from '../helpers/upstream.js';

const MODELS = `
  talk: { owner: acme, capabilities: [chat, tools], upstreams: [{ provider: up }], price: { input_per_million: 1, output_per_million: 2 } }`;

/** What `chatSse` of two words costs: 9 tokens in, 2 out. */
const TURN_NANO = 13_000n;

describe('Responses over a WebSocket', () => {
  let gateway: PaidGateway;

  before(async () => {
    gateway = await startPaidGateway(MODELS, { step: chatSse(['Good', ' day']) });
  });
  after(() => gateway.close());

  it('serves turns that name the one before, with store: false, each charged once', async () => {
    const client = await openSocket(gateway);
    const first = await client.turn({ model: 'talk', store: false, input: 'One' });
    expect(first.type).to.equal('response.completed');
    expect(client.frames.map(({ type }) => type)).to.include('response.output_text.delta');
    const second = await client.turn({
      model: 'talk',
      store: false,
      previous_response_id: idIn(first),
      input: [{ role: 'user', content: 'Two' }],
    });
    expect(second.type).to.equal('response.completed');
    expect(gateway.upstream.requests.at(-1)?.json).to.have.deep.property('messages', [
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Good day' },
      { role: 'user', content: 'Two' },
    ]);
    expect(await gateway.charged()).to.deep.equal([TURN_NANO, TURN_NANO]);
    client.ws.close();
  });
});
