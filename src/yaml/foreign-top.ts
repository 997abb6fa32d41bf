import type { ForeignHint } from './foreign-hint.js';

const OTHER_FILE = 'this is the file of another program: tollgate init writes a gateway.yaml';
export const RETRIES =
  'the gateway tries each upstream of a model once: add further upstreams, and remove this';
export const BY_MINUTE =
  'there is no limit by the minute: remove it; tollgate key create --limit sets one in dollars';
export const BUDGET = 'give the key a limit: tollgate key create ACCOUNT --limit 5.00';
const KEYS =
  'the command line makes them, tollgate account create and tollgate key create: remove this';
const STAGES = 'endpoints have stages: endpoints: { NAME: { before: { STAGE: [...] } } }';
const PROXIES = 'write trusted_proxies: [127.0.0.1/32], with the addresses of your proxies';
const MONEY = 'all amounts are dollars: convert them, and remove this';
const TRACES = 'write traces: { otlp: http://127.0.0.1:4318/v1/traces }';
const TIMEOUT = {
  text: 'each provider has it: providers: { NAME: { timeout: { total: DURATION } } }',
  block: 'each provider has it: providers: { NAME: { timeout: VALUE } }',
};
const SIGNING =
  'sign_in is for people at the dashboard; tollgate key create makes keys for clients';
const PROXY = 'put a proxy with TLS in front, and write its address: public_url: https://YOUR.HOST';

/** Keys of other programs at the top of the file, and what does the same here. */
export const TOP: Readonly<Record<string, ForeignHint>> = {
  import: 'write include: VALUE',
  imports: 'write include: VALUE',
  includes: 'write include: VALUE',
  ports: 'write listen: 127.0.0.1:8080',
  port: 'write listen: 127.0.0.1:8080',
  host: 'write listen: 127.0.0.1:8080',
  bind: 'write listen: 127.0.0.1:8080',
  address: 'write listen: 127.0.0.1:8080',
  server: 'write listen: 127.0.0.1:8080',
  client_max_body_size: { text: 'write limits: { body: SIZE }' },
  database: 'write store: sqlite:PATH, or store: postgres://USER:PASSWORD@HOST/DATABASE',
  db: 'write store: sqlite:PATH, or store: postgres://USER:PASSWORD@HOST/DATABASE',
  storage: 'write store: sqlite:PATH, or store: postgres://USER:PASSWORD@HOST/DATABASE',
  currency: MONEY,
  exchange_rate: MONEY,
  prices: 'each model has its own: models: { NAME: { price: { ... } } }, or price: list',
  pricing: 'each model has its own: models: { NAME: { price: { ... } } }, or price: list',
  redis: 'all state is in the store: nothing else is needed',
  log_level: 'write log: { level: VALUE }',
  logging: { text: 'write log: { level: VALUE }', block: 'write log: VALUE' },
  tls: PROXY,
  ssl: PROXY,
  https: PROXY,
  workers: 'it is an option of the command: tollgate serve --workers VALUE',
  processes: 'it is an option of the command: tollgate serve --workers VALUE',
  auth: SIGNING,
  authentication: SIGNING,
  oidc: 'write sign_in: { providers: { NAME: { issuer: URL, client_id: ID } } }',
  oauth: 'write sign_in: { providers: { NAME: { issuer: URL, client_id: ID } } }',
  sso: 'write sign_in: { providers: { NAME: { issuer: URL, client_id: ID } } }',
  cache: 'answers are not cached: remove it',
  caching: 'answers are not cached: remove it',
  version: 'the file has no version: remove it',
  env: 'variables stand in the environment, or in the file .env beside this one',
  environment: 'variables stand in the environment, or in the file .env beside this one',
  timeout: TIMEOUT,
  request_timeout: TIMEOUT,
  retry: RETRIES,
  retries: RETRIES,
  num_retries: RETRIES,
  max_retries: RETRIES,
  rate_limit: BY_MINUTE,
  rate_limits: BY_MINUTE,
  keys: KEYS,
  api_keys: KEYS,
  accounts: KEYS,
  users: KEYS,
  consumers: KEYS,
  teams: KEYS,
  budgets: BUDGET,
  budget: BUDGET,
  max_budget: BUDGET,
  stages: STAGES,
  plugins: STAGES,
  middleware: STAGES,
  middlewares: STAGES,
  guardrails: STAGES,
  mask: 'it is a stage: endpoints: { "*": { after: { validate: [mask] } } }',
  deny: 'it is a stage: endpoints: { "*": { after: { validate: [{ deny: { words: [...] } }] } } }',
  routes: 'write endpoints: { NAME: { at: POST /PATH, stages: [...] } }',
  services: OTHER_FILE,
  _format_version: OTHER_FILE,
  static_resources: OTHER_FILE,
  api_version: OTHER_FILE,
  http: OTHER_FILE,
  upstreams: 'each model has its own: models: { NAME: { upstreams: [{ provider: NAME }] } }',
  targets: 'each model has its own: models: { NAME: { upstreams: [{ provider: NAME }] } }',
  strategy: 'the upstreams of a model are tried in their order, or share the load by weight',
  prometheus: 'write metrics: 127.0.0.1:9464',
  opentelemetry: TRACES,
  otel: TRACES,
  tracing: TRACES,
  callbacks: TRACES,
  success_callback: TRACES,
  langfuse: TRACES,
  trust_proxy: PROXIES,
  proxies: PROXIES,
  behind_proxy: PROXIES,
  webhook: 'write alerts: { webhook: URL, secret: "${ALERT_SECRET}" }',
  webhooks: 'write alerts: { webhook: URL, secret: "${ALERT_SECRET}" }',
  admin: 'write dashboard: true, and list the people under sign_in',
  defaults: 'a home for anchors begins with x-: call it x-defaults',
};
