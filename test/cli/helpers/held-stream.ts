import { expect } from 'chai';
import { play, sse, startUpstream } from '../../helpers/upstream.js';

/** A chat call of the model `slow`, streamed. */
export const SLOW_CALL = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    model: 'slow',
    stream: true,
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Hello!' }],
  }),
};

/** An upstream whose stream stops after its first words, until it may go on. */
export interface HoldingUpstream {
  url: string;
  goOn(): void;
  close(): Promise<void>;
}

function piece(content: string, finish_reason: string | null = null): object {
  return { choices: [{ index: 0, delta: { content }, finish_reason }] };
}

export async function startHoldingUpstream(): Promise<HoldingUpstream> {
  let goOn = (): void => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  const upstream = await startUpstream((_received, response) => {
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    const end = [piece(' two', 'stop'), { choices: [], usage }, 'data: [DONE]\n\n'];
    return play(sse([piece('One'), held, ...end]), response);
  });
  return {
    url: upstream.url,
    goOn,
    async close() {
      goOn();
      await upstream.close();
    },
  };
}

/** The model `slow` of gateway.yaml, and the provider `held` that it needs. */
export const SLOW_MODEL =
  '  slow: { owner: me, capabilities: [chat], upstreams: [{ provider: held }], price: { input_per_million: 1, output_per_million: 1 } }\n';
export function heldProvider({ url }: HoldingUpstream): string {
  return `held: { uses: openai, base_url: '${url}', api_key: sk-x }`;
}

/** A stream of the model `slow` whose first words have arrived; the rest comes at `goOn`. */
export async function beginStream(at: {
  url: string;
  secret: string;
}): Promise<{ rest: Promise<string> }> {
  const headers = { authorization: `Bearer ${at.secret}`, ...SLOW_CALL.headers };
  const response = await fetch(`${at.url}/v1/chat/completions`, { ...SLOW_CALL, headers });
  expect(response.status).to.equal(200);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes('One')) text += decoder.decode((await reader.read()).value);
  const rest = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += decoder.decode(value);
    }
  })();
  return { rest };
}
