import { sendSmall } from './small-request.js';

/** Posts a body to an address that the operator chose. */
export interface WebhookClient {
  /** Rejects if the receiver does not take it: no answer in time, or a status other than 2xx. */
  post(url: string, body: string, headers: Record<string, string>): Promise<void>;
  /** Ends the requests in flight. */
  close(): void;
}

const LIMITS = { timeout_ms: 15_000, max_bytes: 1024 ** 2 };

export function createWebhookClient(): WebhookClient {
  const closing = new AbortController();
  const { signal } = closing;
  return {
    post: async (url, body, headers) => {
      const { ok, status } = await sendSmall(
        url,
        { method: 'POST', body, headers, signal },
        LIMITS,
      );
      if (!ok) throw new Error(`The status was ${status}.`);
    },
    close: () => closing.abort(),
  };
}
