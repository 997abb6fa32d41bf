import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { startGateway, type TestGateway } from '../helpers/gateway.js';

const YAML = `rates: { key: { requests_per_minute: 1 } }
owners: { sim: { name: Simulator } }
providers: { simulator: {} }
models: { m: { owner: sim, capabilities: [chat], upstreams: [{ provider: simulator, model: m }], price: free } }
`;

const WAIT_MS = 20;
const MINUTE_MS = 60_000;
const messages = [{ role: 'user' as const, content: 'Hello!' }];

describe('client libraries at a full rate', () => {
  let gateway: TestGateway;
  let now_ms: number;
  let waits: (string | null)[];

  /** Begins the next minute once the library knows how long to wait. */
  const limitedFetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.status === 429) {
      waits.push(response.headers.get('retry-after-ms'));
      now_ms += WAIT_MS;
    }
    return response;
  };

  beforeEach(async () => {
    now_ms = 1_800_000_000_000 + MINUTE_MS - WAIT_MS;
    waits = [];
    gateway = await startGateway(YAML, { now: () => now_ms });
  });
  afterEach(() => gateway.close());

  const CALLS: Readonly<Record<string, () => () => Promise<unknown>>> = {
    openai: () => {
      const baseURL = `${gateway.url}/openai/v1`;
      const client = new OpenAI({ baseURL, apiKey: gateway.secret, fetch: limitedFetch });
      return () => client.chat.completions.create({ model: 'm', messages });
    },
    'openai, by the Responses API': () => {
      const baseURL = `${gateway.url}/v1`;
      const client = new OpenAI({ baseURL, apiKey: gateway.secret, fetch: limitedFetch });
      return () => client.responses.create({ model: 'm', input: 'Hello!' });
    },
    '@anthropic-ai/sdk': () => {
      const options = { baseURL: gateway.url, apiKey: gateway.secret, fetch: limitedFetch };
      const client = new Anthropic(options);
      return () => client.messages.create({ model: 'm', max_tokens: 50, messages });
    },
    '@google/genai': () => {
      const client = new GoogleGenAI({
        apiKey: gateway.secret,
        httpOptions: {
          baseUrl: gateway.url,
          fetch: limitedFetch,
          // It waits as its own options say.
          retryOptions: { attempts: 2, initialDelay: WAIT_MS / 1_000, jitter: 0 },
        },
      });
      return () => client.models.generateContent({ model: 'm', contents: 'Hello!' });
    },
  };

  for (const [name, connect] of Object.entries(CALLS)) {
    it(`lets ${name} wait, and then answers`, async () => {
      const call = connect();
      await call();
      expect(waits).to.deep.equal([]);
      await call();
      expect(waits).to.deep.equal([String(WAIT_MS)]);
    });
  }
});
