import { expect } from 'chai';
import { ask, type Answer } from '../../../../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../../../../helpers/gateway.js';
import {
  play,
  startUpstream,
  type FakeUpstream,
  type Received,
} from '../../../../../helpers/upstream.js';
import type { Turn } from '../conversation-parts.js';
import type { WireFake } from './wire-fake.js';
import { WIRE_FAKES } from './wire-fakes.js';

/** A gateway with a model at a fake of each wire, whose ID is the wire's name. */
export class WiresGateway {
  readonly fakes = new Map<string, FakeUpstream>();
  gateway!: TestGateway;

  async start(
    turnOf: (wire: WireFake, received: Received) => Turn,
    capabilities = 'chat, tools',
  ): Promise<void> {
    let [providers, models] = ['', ''];
    for (const [name, wire] of Object.entries(WIRE_FAKES)) {
      const fake = await startUpstream((received, response) =>
        play(wire.answer(turnOf(wire, received), received), response),
      );
      this.fakes.set(name, fake);
      const { uses, model, provider } = wire;
      providers += `  ${name}: { uses: ${uses}, base_url: '${fake.url}', ${provider} }\n`;
      models += `  ${name}:
    owner: acme
    capabilities: [${capabilities}]
    upstreams: [{ provider: ${name}, model: '${model}' }]
    price: { input_per_million: 3, output_per_million: 15 }\n`;
    }
    this.gateway = await startGateway(
      `owners: { acme: { name: Acme } }\nproviders:\n${providers}models:\n${models}`,
    );
  }

  async close(): Promise<void> {
    await this.gateway.close();
    for (const fake of this.fakes.values()) await fake.close();
  }

  /** The answer to a body that the gateway takes. */
  async post(path: string, body: object): Promise<Answer> {
    const answer = await ask(this.gateway, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status, answer.text).to.equal(200);
    return answer;
  }

  /** The last request that a wire has got. */
  sentTo(wire: string): { body: string; json: unknown } {
    const { body = '', json } = this.fakes.get(wire)?.requests.at(-1) ?? {};
    return { body, json };
  }
}
