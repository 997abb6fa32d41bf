import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { WebhookClient } from '../../upstream/webhook.js';
import { alertBody, signatureOf, type AlertEvent } from './alert-events.js';

/** Alerts that wait; those beyond are dropped, and logged. */
const MOST = 100;
/** Before each further attempt; after the last one the alert is given up. */
const RETRY_MS = [2_000, 10_000, 60_000, 300_000] as const;

interface Waiting {
  type: AlertEvent['type'];
  body: string;
  attempts: number;
  due_ms: number;
}

interface AlertQueueOptions {
  client: WebhookClient;
  log: Logger;
  now: () => number;
  target: () => { url: string; secret: string };
}

/** Sends alerts one after another, and tries again what the receiver did not take. */
export class AlertQueue {
  #waiting: Waiting[] = [];
  #sending: Promise<void> | undefined;

  constructor(private readonly options: AlertQueueOptions) {}

  get size(): number {
    return this.#waiting.length;
  }

  add(event: AlertEvent): void {
    const { log, now } = this.options;
    const { type } = event;
    if (this.#waiting.length >= MOST) {
      log.error({ alert: type }, 'an alert was dropped: too many wait for the webhook');
      return;
    }
    const now_ms = now();
    const body = alertBody(event, `alert_${randomUUID()}`, now_ms);
    this.#waiting.push({ type, body, attempts: 0, due_ms: now_ms });
  }

  /** Sends what is due. Never rejects. */
  send(): Promise<void> {
    this.#sending ??= this.#send().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  async #send(): Promise<void> {
    const due = this.#waiting.filter(({ due_ms }) => due_ms <= this.options.now());
    for (const one of due) {
      const end = await this.#attempt(one);
      if (end !== 'again') this.#waiting = this.#waiting.filter((other) => other !== one);
      // A receiver that is away would let each of them wait for its deadline.
      if (end !== 'sent') break;
    }
  }

  async #attempt(one: Waiting): Promise<'sent' | 'again' | 'given up'> {
    const { client, log, now, target } = this.options;
    const { url, secret } = target();
    const { type, body } = one;
    try {
      await client.post(url, body, {
        'content-type': 'application/json',
        'user-agent': 'tollgate',
        'tollgate-signature': signatureOf(body, secret, now()),
      });
      return 'sent';
    } catch (error) {
      const wait_ms = RETRY_MS[one.attempts];
      one.attempts += 1;
      one.due_ms = now() + (wait_ms ?? 0);
      // The message of a library may hold the address, which may be a secret.
      const reason = error instanceof Error && 'code' in error ? String(error.code) : 'refused';
      const known = { alert: type, attempts: one.attempts, reason };
      if (wait_ms === undefined) log.error(known, 'an alert was given up');
      else log.warn(known, 'the webhook took no alert');
      return wait_ms === undefined ? 'given up' : 'again';
    }
  }
}
