import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { WebhookClient } from '../../upstream/webhook.js';
import { alertBody, signatureOf, type AlertEvent } from './alert-events.js';

/** The maximum of alerts that wait. Further ones are dropped, and logged. */
const MAX_WAITING = 100;
/** The delays before the retries. After the last one the alert is given up. */
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

/** Sends alerts one after another, and retries those that the receiver did not take. */
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
    if (this.#waiting.length >= MAX_WAITING) {
      log.error({ alert: type }, 'an alert was dropped: too many wait for the webhook');
      return;
    }
    const now_ms = now();
    const body = alertBody(event, `alert_${randomUUID()}`, now_ms);
    this.#waiting.push({ type, body, attempts: 0, due_ms: now_ms });
  }

  /** Sends the alerts that are due. Never rejects. */
  send(): Promise<void> {
    this.#sending ??= this.#send().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  async #send(): Promise<void> {
    const due = this.#waiting.filter(({ due_ms }) => due_ms <= this.options.now());
    for (const alert of due) {
      const outcome = await this.#attempt(alert);
      if (outcome !== 'retry') this.#waiting = this.#waiting.filter((other) => other !== alert);
      // If the receiver is away, each further alert would wait for its deadline too.
      if (outcome !== 'sent') break;
    }
  }

  async #attempt(alert: Waiting): Promise<'sent' | 'retry' | 'given up'> {
    const { client, log, now, target } = this.options;
    const { url, secret } = target();
    const { type, body } = alert;
    try {
      await client.post(url, body, {
        'content-type': 'application/json',
        'user-agent': 'tollgate',
        'tollgate-signature': signatureOf(body, secret, now()),
      });
      return 'sent';
    } catch (error) {
      const wait_ms = RETRY_MS[alert.attempts];
      alert.attempts += 1;
      alert.due_ms = now() + (wait_ms ?? 0);
      // The message of a library may hold the address, which may be a secret.
      const reason = error instanceof Error && 'code' in error ? String(error.code) : 'refused';
      const fields = { alert: type, attempts: alert.attempts, reason };
      if (wait_ms === undefined) log.error(fields, 'an alert was given up');
      else log.warn(fields, 'the webhook took no alert');
      return wait_ms === undefined ? 'given up' : 'retry';
    }
  }
}
