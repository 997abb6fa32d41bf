import { freePort } from './free-port.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.js';

/** Models with believable names and prices, all of them played by the simulator. */
export const DASHBOARD_YAML = `
owners:
  openai: { name: OpenAI }
  anthropic: { name: Anthropic }
  google: { name: Google }
  meta: { name: Meta }
providers:
  simulator: { settings: { tokens_per_second: 2000, video_takes: 1s }, poll_interval: 100ms }
models:
  gpt-4o-mini:
    owner: openai
    capabilities: [chat, vision, tools]
    upstreams: [{ provider: simulator }]
    limits: { max_tokens: 16384, context: 128000 }
    price: { input_per_million: 0.15, output_per_million: 0.60 }
  claude-sonnet-4-5:
    owner: anthropic
    capabilities: [chat, vision, tools]
    upstreams: [{ provider: simulator }]
    limits: { max_tokens: 64000, context: 200000 }
    price: { input_per_million: 3.00, output_per_million: 15.00 }
  gemini-2.5-flash:
    owner: google
    capabilities: [chat, vision, audio, tools]
    upstreams: [{ provider: simulator }]
    limits: { max_tokens: 65536, context: 1000000 }
    price: { input_per_million: 0.30, output_per_million: 2.50 }
  llama-3.3-70b:
    owner: meta
    capabilities: [chat, tools]
    upstreams: [{ provider: simulator }]
    limits: { max_tokens: 8192, context: 131072 }
    price: free
  gpt-image-1:
    owner: openai
    capabilities: [image]
    upstreams: [{ provider: simulator }]
    price: { per_image: { standard: 0.04, hd: 0.08 } }
  google/veo-3.1:
    owner: google
    capabilities: [video]
    upstreams: [{ provider: simulator }]
    price:
      per_video_second:
        720p: { silent: 0.20, audio: 0.40 }
        1080p: { silent: 0.20, audio: 0.40 }
        4k: { silent: 0.40, audio: 0.60 }
`;

export interface TestDashboard extends TestGateway {
  /** The cookie `session` of somebody who came by a link to that account. */
  signIn: (account_id: string, operator?: boolean) => Promise<string>;
}

/** A gateway whose `public_url` is where it listens, as browsers want it. */
export async function startDashboard(
  options: TestGatewayOptions = {},
  yaml = DASHBOARD_YAML,
): Promise<TestDashboard> {
  const port = await freePort();
  const public_url = `http://127.0.0.1:${port}`;
  const started = await startGateway(`public_url: ${public_url}\n${yaml}`, { ...options, port });
  const { sign_in } = started.gateway.store;
  const signIn = (account_id: string, operator = false): Promise<string> =>
    sign_in.createSession({ account_id, email: null, via: 'link', operator });
  return { ...started, signIn };
}
