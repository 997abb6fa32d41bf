import { ask, type Answer } from './ask.js';
import { startGateway, type TestGateway } from './gateway.js';
import { play, startUpstream, type FakeUpstream, type Step } from './upstream.js';

/** A gateway before one upstream that plays a step, with its ledger at hand. */
export interface PaidGateway extends TestGateway {
  upstream: FakeUpstream;
  /** What the upstream answers. */
  step: Step;
  post(path: string, body: object, headers?: Record<string, string>): Promise<Answer>;
  /** Nano-dollars of each charge so far, the newest last. */
  charged(): Promise<bigint[]>;
  /** The usage that the newest charge tells. */
  counted(): Promise<unknown>;
}

interface PaidOptions {
  uses?: string;
  step?: Step;
  /** The timeouts of `up`, in YAML. */
  timeout?: string;
  /** Further keys of `up`, in YAML. */
  provider?: string;
  /** Further lines of `providers`. */
  providers?: string;
  /** Further lines of gateway.yaml. */
  settings?: string;
}

/**
 * `models` is the block of gateway.yaml without its name; their provider `up` is that upstream, by
 * the manifest `uses`.
 */
export async function startPaidGateway(
  models: string,
  options: PaidOptions = {},
): Promise<PaidGateway> {
  const { uses = 'openai', step = {}, timeout = '{}', provider = '' } = options;
  const { settings = '', providers = '' } = options;
  const paid = { step } as PaidGateway;
  const upstream = await startUpstream((_, response) => play(paid.step, response));
  const yaml = `${settings}
owners: { acme: { name: Acme } }
providers:
  up: { uses: ${uses}, base_url: '${upstream.url}', api_key: sk-up, timeout: ${timeout}, ${provider} }
  google: { uses: gemini, base_url: '${upstream.url}', api_key: sk-up }
  simulator: {}
${providers}
models:
${models}`;
  const gateway = await startGateway(yaml, { credit: '10' });
  const charges = async () => {
    const rows = await gateway.gateway.store.ledger(gateway.account.id, { limit: 1_000 });
    return rows.filter(({ kind }) => kind === 'charge');
  };
  return Object.assign(paid, gateway, {
    upstream,
    post: (path: string, body: object, headers: Record<string, string> = {}) => {
      const json = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
      const form = { method: 'POST', headers, body: body as FormData };
      return ask(
        gateway,
        path,
        body instanceof FormData ? form : { ...json, body: JSON.stringify(body) },
      );
    },
    charged: async () => (await charges()).map(({ amount_nano }) => -amount_nano),
    counted: async () => JSON.parse((await charges()).at(-1)?.usage ?? 'null') as unknown,
    close: async () => {
      await gateway.close();
      await upstream.close();
    },
  });
}
