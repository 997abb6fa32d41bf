import type { Logger } from 'pino';
import type { Configuration } from '../../core/configuration.js';
import type { RequestRecord } from '../../core/request-record.js';
import { withTimeout } from '../../lib/with-timeout.js';
import type { Store } from '../../store/store-types.js';
import { createWebhookClient, type WebhookClient } from '../../upstream/webhook.js';
import type { OutcomeReport } from '../../schema-types/outcome-report.js';
import { boxesOf, DIFFERING_PARTS, type Difference } from '../boxes.js';
import { mergedReports } from '../provider-health.js';
import type { GatewayFacts, View } from '../view.js';
import { AlertQueue } from './alert-queue.js';
import { Conditions } from './conditions.js';

type Settings = NonNullable<Configuration['alerts']>;

interface AlertsOptions {
  store: Pick<Store, 'alerts' | 'account' | 'keys' | 'notes' | 'processes'>;
  log: Logger;
  now: () => number;
}

const TICK_MS = 1_000;
const CHECK_EVERY_MS = 15_000;
const CLOSE_MS = 3_000;
/** The maximum of accounts that wait for a check. Others are checked after their next charge. */
const MAX_ACCOUNTS = 1_000;
const ACCOUNTS_A_CHECK = 50;
/** A provider with this many failures and no success within five minutes is down. */
const MIN_FAILURES = 3;
const BUDGETS = [100, 80] as const;
const PAYMENT_REQUIRED = 402;

/** Sends alerts to the operator's webhook when a condition needs attention. */
export class Alerts implements View {
  readonly #client: WebhookClient = createWebhookClient();
  readonly #queue: AlertQueue;
  readonly #conditions: Conditions;
  readonly #accounts = new Set<string>();
  #facts: GatewayFacts | undefined;
  #checked_ms: number;
  #ticking: Promise<void> | undefined;
  /** Failed pings of the store in a row. A store that fails once may only be slow. */
  #misses = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(
    private settings: Settings,
    private readonly options: AlertsOptions,
  ) {
    const { log, now, store } = options;
    this.#queue = new AlertQueue({
      client: this.#client,
      log,
      now,
      target: () => this.settings,
    });
    const alert = this.#queue.add.bind(this.#queue);
    this.#conditions = new Conditions({ store: store.alerts, now, alert });
    this.#checked_ms = now();
    this.#timer = setInterval(() => void this.tick(), TICK_MS).unref();
  }

  watch(facts: GatewayFacts): void {
    this.#facts = facts;
    // This process has read the whole file, so an earlier refusal of it is over.
    this.#conditions.clear('reload.refused');
  }

  take({ account_id, model, status, cost_nano, uncollected_nano }: RequestRecord): void {
    if (cost_nano > 0n || status === PAYMENT_REQUIRED) {
      if (this.#accounts.size < MAX_ACCOUNTS) this.#accounts.add(account_id);
    }
    if (uncollected_nano === 0n) return;
    const event = { account: account_id, model: model ?? '', uncollected_nano };
    const condition = `cost.uncollected ${account_id}`;
    this.#conditions.raise(condition, { type: 'cost.uncollected', ...event });
  }

  reloaded({ alerts }: Configuration): void {
    if (alerts) this.settings = alerts;
    this.#conditions.clear('reload.refused');
  }

  refused(reason: string): void {
    this.#conditions.raise('reload.refused', { type: 'reload.refused', reason });
  }

  /**
   * Checks the conditions when it is time, and sends due alerts. Called each second. Never rejects.
   */
  tick(): Promise<void> {
    this.#ticking ??= this.#tick().finally(() => (this.#ticking = undefined));
    return this.#ticking;
  }

  /** Sends the due alerts, for a few seconds at most. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await withTimeout(this.#queue.send(), CLOSE_MS);
    this.#client.close();
  }

  async #tick(): Promise<void> {
    const now_ms = this.options.now();
    if (now_ms - this.#checked_ms >= CHECK_EVERY_MS) {
      this.#checked_ms = now_ms;
      // Without the store, its own condition is the only one that can be checked.
      if (await this.#checkStore()) {
        await this.#check().catch((err: unknown) => {
          this.options.log.warn({ err }, 'the conditions of alerts could not be read');
        });
      }
    }
    await this.#conditions.settled;
    await this.#queue.send();
  }

  async #checkStore(): Promise<boolean> {
    const facts = this.#facts;
    if (!facts) return false;
    const isUp = await facts.ping().then(
      () => facts.is_store_up,
      () => false,
    );
    this.#misses = isUp ? 0 : this.#misses + 1;
    if (isUp) this.#conditions.clear('store.away');
    if (this.#misses < 2) return isUp;
    const { journal_charges } = facts;
    this.#conditions.raise('store.away', { type: 'store.away', journal_charges });
    return false;
  }

  async #check(): Promise<void> {
    this.#checkProviders(mergedReports(await this.options.store.notes()));
    this.#checkBoxes(boxesOf(await this.options.store.processes()).differences);
    const { low_balance_nano } = this.settings;
    const low = this.#conditions.holding('balance.low ');
    const low_accounts = low.map((condition) => condition.slice('balance.low '.length));
    const charged = [...this.#accounts].slice(0, ACCOUNTS_A_CHECK);
    for (const id of charged) this.#accounts.delete(id);
    for (const id of new Set([...charged, ...low_accounts])) {
      if (low_balance_nano !== undefined) await this.#checkBalance(id, low_balance_nano);
      await this.#checkKeys(id);
    }
  }

  #checkProviders(report: OutcomeReport): void {
    for (const [provider, { answered, failed, last_failure }] of Object.entries(report)) {
      const condition = `provider.down ${provider}`;
      if (answered > 0) this.#conditions.clear(condition);
      if (answered > 0 || failed < MIN_FAILURES) continue;
      const last_fault = last_failure?.fault ?? 'broken';
      const event = { type: 'provider.down' as const, provider, failed, last_fault };
      this.#conditions.raise(condition, event);
    }
  }

  #checkBoxes(differences: readonly Difference[]): void {
    for (const part of DIFFERING_PARTS) {
      const condition = `boxes.differ ${part}`;
      const difference = differences.find((one) => one.part === part);
      if (difference) this.#conditions.raise(condition, { type: 'boxes.differ', ...difference });
      else this.#conditions.clear(condition);
    }
  }

  async #checkBalance(id: string, threshold_nano: bigint): Promise<void> {
    const account = await this.options.store.account(id);
    if (!account) return;
    const { name, balance_nano } = account;
    const condition = `balance.low ${id}`;
    if (balance_nano >= threshold_nano) return this.#conditions.clear(condition);
    const event = { type: 'balance.low' as const, account: name, balance_nano, threshold_nano };
    this.#conditions.raise(condition, event);
  }

  async #checkKeys(account: string): Promise<void> {
    for (const { id: key, limit_nano, spent_nano, revoked_ms } of await this.options.store.keys(
      account,
    )) {
      if (limit_nano === null || revoked_ms !== null) continue;
      const reached = BUDGETS.find((percent) => spent_nano * 100n >= limit_nano * BigInt(percent));
      for (const percent of BUDGETS) {
        const condition = `key.budget ${key} ${percent}`;
        if (reached === undefined || percent > reached) this.#conditions.clear(condition);
      }
      if (reached === undefined) continue;
      const event = { account, key, percent: reached, limit_nano, spent_nano };
      this.#conditions.raise(`key.budget ${key} ${reached}`, {
        type: 'key.budget',
        ...event,
      });
    }
  }
}
