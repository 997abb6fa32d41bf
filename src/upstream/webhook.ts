import { Agent, request } from 'undici';

/** Posts a body to an address that the operator chose. */
export interface WebhookClient {
  /**
   * Rejects if the receiver does not take it: no answer in time, or a status other than 2xx. It
   * follows no redirect, which would lead to an address that the operator did not choose.
   */
  post(url: string, body: string, headers: Record<string, string>): Promise<void>;
  close(): Promise<void>;
}

const CONNECT_MS = 5_000;
const ANSWER_MS = 10_000;

export function createWebhookClient(): WebhookClient {
  const agent = new Agent({
    connections: 1,
    connect: { timeout: CONNECT_MS },
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
  });
  return {
    post: async (url, body, headers) => {
      const { statusCode, body: answer } = await request(url, {
        dispatcher: agent,
        method: 'POST',
        body,
        headers,
        signal: AbortSignal.timeout(CONNECT_MS + ANSWER_MS),
      });
      // The body of the answer is not needed.
      answer.on('error', () => undefined).destroy();
      if (statusCode < 200 || statusCode > 299) throw new Error(`The status was ${statusCode}.`);
    },
    close: () => agent.destroy(),
  };
}
