import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { dataOf, INPUT_NANO, OUTPUT_NANO } from '../money/helpers/scripted-gateway.js';

/** How long a client waits for an answer. */
const PATIENCE_MS = 60_000;
/** From the start of a call to the start of the client's next one. */
const PACE_MS = 400;

/** An answer that came whole, and what it costs by its usage. */
export interface Answered {
  id: string;
  account_id: string;
  cost_nano: bigint;
}

/** Whose money clients spend. */
export interface Payer {
  account_id: string;
  secret: string;
  clients: number;
  /** A client without money is refused for a good reason. */
  is_poor: boolean;
}

/** Clients that call at a pace, and count what they are answered. */
export class PacedClients {
  readonly answered: Answered[] = [];
  /** How often each status was seen; `cut` is an answer that ended early or never came. */
  readonly statuses = new Map<string, number>();
  longest_refusal_ms = 0;
  readonly #port: number;
  readonly #running: Promise<void>[];
  #isOver = false;

  constructor(port: number, payers: readonly Payer[]) {
    this.#port = port;
    const clients = payers.flatMap((payer) => Array.from({ length: payer.clients }, () => payer));
    this.#running = clients.map(async (payer, at) => {
      await pause((at * PACE_MS) / clients.length);
      await this.#live(payer, at);
    });
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #live(payer: Payer, at: number): Promise<void> {
    let refused_since: number | undefined;
    for (let turn = at; !this.#isOver || refused_since !== undefined; turn += 1) {
      const begun = performance.now();
      const status = await this.#call(payer, turn % 2 === 0).catch(() => 'cut');
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      if (status !== '200' && !payer.is_poor) refused_since ??= begun;
      if (refused_since !== undefined) {
        const refused_ms = performance.now() - refused_since;
        this.longest_refusal_ms = Math.max(this.longest_refusal_ms, refused_ms);
      }
      if (status === '200' || (this.#isOver && payer.is_poor)) refused_since = undefined;
      if (this.#isOver && performance.now() - (refused_since ?? begun) > PATIENCE_MS) return;
      await pause(Math.max(0, PACE_MS - (performance.now() - begun)));
    }
  }

  async #call({ secret, account_id }: Payer, stream: boolean): Promise<string> {
    const messages = [{ role: 'user', content: 'Hi' }];
    const options = stream ? { stream, stream_options: { include_usage: true } } : {};
    const { status, text } = await this.#send(
      secret,
      JSON.stringify({ model: 'm', messages, ...options }),
    );
    if (status !== 200) return String(status);
    const events = dataOf(text);
    if (stream && events.at(-1) !== '[DONE]') return 'cut';
    const { id, usage } = JSON.parse(stream ? (events.at(-2) ?? '') : text) as {
      id: string;
      usage: { prompt_tokens: number; completion_tokens: number };
    };
    const { prompt_tokens, completion_tokens } = usage;
    const cost_nano = BigInt(prompt_tokens) * INPUT_NANO + BigInt(completion_tokens) * OUTPUT_NANO;
    this.answered.push({ id: id.replace('chatcmpl-', ''), account_id, cost_nano });
    return '200';
  }

  /** On a connection of its own, so that the balancer chooses for each call. */
  #send(secret: string, body: string): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const sent = request({
        host: '127.0.0.1',
        port: this.#port,
        path: '/v1/chat/completions',
        method: 'POST',
        headers,
        agent: false,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      sent.once('error', reject).once('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.once('error', reject).once('end', () => {
          resolve({ status: response.statusCode ?? 0, text });
        });
      });
      sent.end(body);
    });
  }
}
