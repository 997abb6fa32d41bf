import { expect } from 'chai';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { COST, startSdkGateway, TEXT, type SdkGateway } from './helpers/sdk-gateway.js';

describe('the openai package, making responses over a WebSocket', () => {
  let acme: SdkGateway;

  before(async () => (acme = await startSdkGateway()));
  after(() => acme.close());

  it('reads the events of turns that continue each other', async () => {
    const client = new OpenAI({ baseURL: `${acme.url}/v1`, apiKey: acme.secret });
    const socket = new ResponsesWS(client);
    const costs = await acme.charged(async () => {
      let text = '';
      let turns = 0;
      socket.send({ type: 'response.create', model: 'acme-chat', store: false, input: 'Hello!' });
      for await (const event of socket.stream()) {
        if (event.type === 'error') throw event.error;
        if (event.type !== 'message') continue;
        const { message } = event;
        if (message.type === 'response.output_text.delta') text += message.delta;
        if (message.type !== 'response.completed') continue;
        turns += 1;
        if (turns === 2) break;
        const previous_response_id = message.response.id;
        socket.send({
          type: 'response.create',
          model: 'acme-chat',
          store: false,
          previous_response_id,
          input: 'And again!',
        });
      }
      expect(text).to.equal(TEXT + TEXT);
    });
    expect(costs).to.deep.equal([COST.streamed, COST.streamed]);
    socket.close();
  });
});
