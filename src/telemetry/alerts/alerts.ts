import type { Logger } from 'pino';
import type { Configuration } from '../../core/configuration.js';
import type { RequestRecord } from '../../core/request-record.js';
import type { Store } from '../../store/store-types.js';
import { createWebhookClient, type WebhookClient } from '../../upstream/webhook.js';
import { merged, type OutcomeReport } from '../provider-health.js';
import type { GatewayFacts, View } from '../view.js';
import { AlertQueue } from './alert-queue.js';
import { Conditions } from './conditions.js';

type Settings = NonNullable<Configuration['alerts']>;

interface AlertsOptions {
  store: Pick<Store, 'alerts' | 'account' | 'keys' | 'notes'>;
  log: Logger;
  now: () => number;
}

const TICK_MS = 1_000;
const LOOK_EVERY_MS = 15_000;
const CLOSE_MS = 3_000;
/** Accounts that wait to be looked at; others are looked at when they are charged again. */
const MOST_ACCOUNTS = 1_000;
const ACCOUNTS_A_LOOK = 50;
/** So many failures and no answer within five minutes make a provider down. */
const FAILURES = 3;
const BUDGETS = [100, 80] as const;
const PAYMENT_REQUIRED = 402;

/** Tells the operator's webhook what needs somebody's attention. */
export class Alerts implements View {
  readonly #client: WebhookClient = createWebhookClient();
  readonly #queue: AlertQueue;
  readonly #conditions: Conditions;
  readonly #accounts = new Set<string>();
  #facts: GatewayFacts | undefined;
  #looked_ms: number;
  #ticking: Promise<void> | undefined;
  /** A store that fails once may only be slow. */
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
    const tell = this.#queue.add.bind(this.#queue);
    this.#conditions = new Conditions({ store: store.alerts, now, tell });
    this.#looked_ms = now();
    this.#timer = setInterval(() => void this.tick(), TICK_MS).unref();
  }

  watch(facts: GatewayFacts): void {
    this.#facts = facts;
    // An edited file that was refused before a restart is over: this process serves the whole file.
    this.#conditions.clear('reload.refused');
  }

  take({ account_id, model, status, cost_nano, uncollected_nano }: RequestRecord): void {
    if (cost_nano > 0n || status === PAYMENT_REQUIRED) {
      if (this.#accounts.size < MOST_ACCOUNTS) this.#accounts.add(account_id);
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

  /** Looks where it is time to, and sends what is due. Called each second; never rejects. */
  tick(): Promise<void> {
    this.#ticking ??= this.#tick().finally(() => (this.#ticking = undefined));
    return this.#ticking;
  }

  /** Sends what is due, as far as the receiver takes it at once. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#queue.send(), late]);
    clearTimeout(timer);
    await this.#client.close();
  }

  async #tick(): Promise<void> {
    const now_ms = this.options.now();
    if (now_ms - this.#looked_ms >= LOOK_EVERY_MS) {
      this.#looked_ms = now_ms;
      // Without the store only the store itself can be told of.
      if (await this.#lookAtStore()) {
        await this.#look().catch((err: unknown) => {
          this.options.log.warn({ err }, 'the conditions of alerts could not be read');
        });
      }
    }
    await this.#conditions.settled;
    await this.#queue.send();
  }

  async #lookAtStore(): Promise<boolean> {
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

  async #look(): Promise<void> {
    const reports = (await this.options.store.notes()).map(
      (note) => JSON.parse(note) as OutcomeReport,
    );
    this.#lookAtProviders(merged(reports));
    const { low_balance_nano } = this.settings;
    const low = this.#conditions.holding('balance.low ');
    const again = low.map((condition) => condition.slice('balance.low '.length));
    const some = [...this.#accounts].slice(0, ACCOUNTS_A_LOOK);
    for (const id of some) this.#accounts.delete(id);
    for (const id of new Set([...some, ...again])) {
      if (low_balance_nano !== undefined) await this.#lookAtBalance(id, low_balance_nano);
      await this.#lookAtKeys(id);
    }
  }

  #lookAtProviders(report: OutcomeReport): void {
    for (const [provider, { answered, failed, last_failure }] of Object.entries(report)) {
      const condition = `provider.down ${provider}`;
      if (answered > 0) this.#conditions.clear(condition);
      if (answered > 0 || failed < FAILURES) continue;
      const last_fault = last_failure?.fault ?? 'broken';
      const event = { type: 'provider.down' as const, provider, failed, last_fault };
      this.#conditions.raise(condition, event);
    }
  }

  async #lookAtBalance(id: string, threshold_nano: bigint): Promise<void> {
    const account = await this.options.store.account(id);
    if (!account) return;
    const { name, balance_nano } = account;
    const condition = `balance.low ${id}`;
    if (balance_nano >= threshold_nano) return this.#conditions.clear(condition);
    const event = { type: 'balance.low' as const, account: name, balance_nano, threshold_nano };
    this.#conditions.raise(condition, event);
  }

  async #lookAtKeys(account: string): Promise<void> {
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
