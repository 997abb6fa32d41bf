import { foreignPriceHint } from './foreign-prices.js';
import { IDENTITY, SIGN_IN } from './foreign-sign-in.js';

/**
 * Hints for the keys of other gateways and proxies: the key that does the same here, and how to
 * convert the value.
 */
const ANYWHERE: Readonly<Record<string, string>> = {
  model_list: 'models are a block here: models: { NAME: { ... } }',
  litellm_params: 'it belongs to an upstream: upstreams: [{ provider: NAME, model: ID }]',
  litellm_settings: 'settings stand at the top of the file, limits under limits:',
  general_settings: 'settings stand at the top of the file, limits under limits:',
  router_settings: 'upstreams are tried in the order of the list, or by weight',
  master_key: 'keys are made by tollgate key create',
  virtual_keys: 'keys are made by tollgate key create',
  database_url: 'write store: postgres://USER:PASSWORD@HOST/DATABASE',
  custom_llm_provider: 'write uses: NAME in the entry of the provider',
  channels: 'a channel is a provider here: providers: { NAME: { uses: ... } }',
  fallbacks: 'add further upstreams to the model: they are the fallbacks',
  fallback: 'add further upstreams to the model: they are the fallbacks',
  model_ratio: 'use input_per_million instead: a ratio of 1 is 2 dollars',
  completion_ratio: 'use output_per_million instead: the input price times this ratio',
  cache_ratio: 'use cached_input_per_million instead: the input price times this ratio',
  group_ratio: 'prices are the same for all accounts: write the price itself',
  model_price: 'use per_image for images, in dollars',
  output_cost_per_image: 'use per_image instead, in dollars',
  input_cost_per_image: 'use per_image instead, in dollars',
  output_cost_per_second: 'use per_video_second instead, in dollars',
};

const OTHER_FILE = 'this is the file of another program: tollgate init writes a gateway.yaml';
const RETRIES = 'add further upstreams to the model: the gateway tries each of them once';
const BY_MINUTE =
  'there is no limit by the minute: a key has one in dollars, tollgate key create --limit';
const BUDGET = 'give the key a limit: tollgate key create ACCOUNT --limit 5.00';
const KEYS = 'the command line makes them: tollgate account create, tollgate key create';
const STAGES = 'endpoints have stages: endpoints: { NAME: { before: { STAGE: [...] } } }';
const NAMED = 'the key of the entry is its name: remove this';
const COMMENT_OUT = 'put # before the lines of an entry that should not count';
const SIGNING =
  'sign_in is for people at the dashboard; tollgate key create makes keys for clients';
const PROXY = 'put a proxy with TLS in front, and write its address: public_url: https://YOUR.HOST';

const TOP: Readonly<Record<string, string>> = {
  port: 'write listen: 127.0.0.1:8080',
  host: 'write listen: 127.0.0.1:8080',
  bind: 'write listen: 127.0.0.1:8080',
  address: 'write listen: 127.0.0.1:8080',
  server: 'write listen: 127.0.0.1:8080',
  database: 'write store: sqlite:PATH, or store: postgres://USER:PASSWORD@HOST/DATABASE',
  db: 'write store: sqlite:PATH, or store: postgres://USER:PASSWORD@HOST/DATABASE',
  storage: 'write store: sqlite:PATH, or store: postgres://USER:PASSWORD@HOST/DATABASE',
  redis: 'all state is in the store: nothing else is needed',
  log_level: 'write log: { level: VALUE }',
  logging: 'write log: { level: VALUE }',
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
  timeout: 'each provider has it: providers: { NAME: { timeout: { total: 60s } } }',
  request_timeout: 'each provider has it: providers: { NAME: { timeout: { total: 60s } } }',
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
  opentelemetry: 'write traces: { otlp: http://127.0.0.1:4318/v1/traces }',
  otel: 'write traces: { otlp: http://127.0.0.1:4318/v1/traces }',
  tracing: 'write traces: { otlp: http://127.0.0.1:4318/v1/traces }',
  webhook: 'write alerts: { webhook: URL, secret: "${ALERT_SECRET}" }',
  webhooks: 'write alerts: { webhook: URL, secret: "${ALERT_SECRET}" }',
  admin: 'write dashboard: true, and list the people under sign_in',
  defaults: 'a home for anchors begins with x-: call it x-defaults',
};

const RATES: Readonly<Record<string, string>> = {
  rpm: BY_MINUTE,
  tpm: BY_MINUTE,
  requests_per_minute: BY_MINUTE,
  tokens_per_minute: BY_MINUTE,
};

const BY_VARIABLE = 'write api_key: "${NAME}", with the name of the variable';

const PROVIDER: Readonly<Record<string, string>> = {
  api_key_env: BY_VARIABLE,
  env_key: BY_VARIABLE,
  type: 'write uses: VALUE',
  kind: 'write uses: VALUE',
  manifest: 'write uses: VALUE',
  adapter: 'write uses: VALUE',
  driver: 'write uses: VALUE',
  provider: 'write uses: VALUE',
  format: 'write uses: VALUE',
  api_type: 'write uses: VALUE',
  api_keys: 'an entry has one api_key: a second entry with the same "uses" has the other',
  keys: 'an entry has one api_key: a second entry with the same "uses" has the other',
  organization: 'write headers: { NAME: VALUE }',
  organisation: 'write headers: { NAME: VALUE }',
  org: 'write headers: { NAME: VALUE }',
  models: 'a model names its provider: models: { ID: { upstreams: [{ provider: NAME }] } }',
  enabled: COMMENT_OUT,
  disabled: COMMENT_OUT,
  name: NAMED,
  retries: RETRIES,
  max_retries: RETRIES,
  num_retries: RETRIES,
  ...RATES,
  weight: 'an upstream of a model has it: upstreams: [{ provider: NAME, weight: 1 }]',
  priority: 'the order of the upstreams of a model is the priority',
  location: 'use region instead',
  account_id: 'use resource instead, where the manifest has {resource}',
  deployment: 'it belongs to an upstream: upstreams: [{ provider: NAME, model: DEPLOYMENT }]',
  model_mapping: 'it belongs to an upstream: upstreams: [{ provider: NAME, model: ID }]',
  network_config: 'write timeout: { total: 60s }',
};

const MODEL: Readonly<Record<string, string>> = {
  provider: 'it belongs to an upstream: upstreams: [{ provider: VALUE, model: ID }]',
  model: 'it belongs to an upstream: upstreams: [{ provider: NAME, model: VALUE }]',
  providers: 'write upstreams: [{ provider: NAME, model: ID }]',
  aliases: 'another name is another entry under models: an anchor saves writing it again',
  alias: 'another name is another entry under models: an anchor saves writing it again',
  name: NAMED,
  display_name: NAMED,
  description: 'there is none: a comment begins with #',
  mode: 'write capabilities: [chat]',
  type: 'write capabilities: [chat]',
  enabled: COMMENT_OUT,
  disabled: COMMENT_OUT,
  ...RATES,
  rate_limit: BY_MINUTE,
  retries: RETRIES,
  timeout: 'each provider has it: providers: { NAME: { timeout: { total: 60s } } }',
  group: 'a key may be for some models only: tollgate key create ACCOUNT --model ID',
  groups: 'a key may be for some models only: tollgate key create ACCOUNT --model ID',
  temperature: 'an upstream sets it: upstreams: [{ provider: NAME, set: { temperature: VALUE } }]',
  endpoints: 'those stand at the top, and serve each model with the capability of their route',
  max_budget: BUDGET,
  budget: BUDGET,
  model_info: 'use limits, price and capabilities instead',
  supports_vision: 'write capabilities: [chat, vision]',
  supports_function_calling: 'write capabilities: [chat, tools]',
  top_p: 'an upstream sets it: upstreams: [{ provider: NAME, set: { top_p: VALUE } }]',
};

const UPSTREAM: Readonly<Record<string, string>> = {
  priority: 'the order of the list is the priority',
  order: 'the order of the list is the priority',
  name: 'write provider: NAME, and model: ID',
  id: 'write model: ID',
  deployment: 'write model: DEPLOYMENT',
  ...RATES,
  enabled: COMMENT_OUT,
  temperature: 'write set: { temperature: VALUE }',
  override_params: 'write set: { FIELD: VALUE }',
  retries: RETRIES,
};

const PRICE: Readonly<Record<string, string>> = {
  prompt: 'use input_per_million instead: multiply the price of one token by 1000000',
  completion: 'use output_per_million instead: multiply the price of one token by 1000000',
  input: 'use input_per_million instead, in dollars for a million tokens',
  output: 'use output_per_million instead, in dollars for a million tokens',
  currency: 'all prices are dollars: convert them, and remove this',
  unit: 'each key has its unit in its name: remove this',
  markup: 'write the prices that you charge: nothing is added to them',
  multiplier: 'write the prices that you charge: nothing is added to them',
  list: 'price: list takes the list prices; yours are written out, key by key',
  free: 'price: free stands alone',
  per_request: 'calls are charged by tokens, images, seconds or characters alone',
  request: 'calls are charged by tokens, images, seconds or characters alone',
  image: 'use per_image instead, in dollars for an image that is made',
  per_video_minute: 'use per_video_second instead: divide by 60',
  per_second: 'use per_video_second or per_audio_minute instead',
  per_minute: 'use per_audio_minute or per_video_second instead',
  per_audio_second: 'use per_audio_minute instead: multiply by 60',
  per_audio_hour: 'use per_audio_minute instead: divide by 60',
  per_character: 'use per_million_characters instead: multiply by 1000000',
  per_thousand_characters: 'use per_million_characters instead: multiply by 1000',
  per_1k_characters: 'use per_million_characters instead: multiply by 1000',
};

const TIMEOUT: Readonly<Record<string, string>> = {
  read: 'use first_byte (until the answer begins) or idle (within the answer)',
  response: 'use first_byte instead, the time until the answer begins',
  ttfb: 'use first_byte instead, the time until the answer begins',
  first_token: 'use first_byte instead, the time until the answer begins',
  stream: 'use idle instead, the time that a stream may be silent',
  request: 'use total instead, the time of the whole call',
  write: 'use total instead, the time of the whole call',
};

const ENDPOINT: Readonly<Record<string, string>> = {
  path: 'write method and path as at: POST VALUE',
  url: 'write method and path as at: POST VALUE',
  route: 'write method and path as at: POST VALUE',
  method: 'write method and path as at: POST /v1/NAME',
  methods: 'write method and path as at: POST /v1/NAME',
  enabled: 'an endpoint is taken away by NAME: off',
  plugins: 'list them under stages, or under before and after',
  middleware: 'list them under stages, or under before and after',
};

/** By the title of the block in its schema. */
const IN_BLOCKS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  GatewayFile: TOP,
  ProviderEntry: PROVIDER,
  ModelEntry: MODEL,
  UpstreamEntry: UPSTREAM,
  PriceEntry: PRICE,
  TimeoutBlock: TIMEOUT,
  SignInBlock: SIGN_IN,
  IdentityProviderEntry: IDENTITY,
  EndpointBlock: ENDPOINT,
  ModelLimitsBlock: RATES,
  LimitsBlock: {
    ...RATES,
    max_tokens: 'each model has it, at models.NAME.limits; default_max_tokens is for all of them',
  },
  LogBlock: {
    file: 'the log goes to standard error: the service manager or a shell puts it into a file',
    path: 'the log goes to standard error: the service manager or a shell puts it into a file',
    output: 'the log goes to standard error: the service manager or a shell puts it into a file',
  },
  RequestsBlock: { retention: 'write keep: 30d', ttl: 'write keep: 30d' },
  TracesBlock: {
    endpoint: 'write otlp: VALUE',
    url: 'write otlp: VALUE',
    sampling: 'write sample: 0.1',
    ratio: 'write sample: 0.1',
  },
  AlertsBlock: {
    url: 'write webhook: https://hooks.example.com/tollgate',
    slack: 'use webhook: its receiver, a program of yours, can write to a chat',
    email: 'use webhook: its receiver, a program of yours, can send mail',
  },
};

/** What does not belong in a block that is easily taken for another one, by its title. */
const NOT_FOR: Readonly<Record<string, string>> = {
  HeadersBlock: 'headers for a provider stand at providers.NAME.headers',
};

/** The end of the hint for each unknown key of a block. */
export function notForHint(block: unknown): string {
  const hint = NOT_FOR[String(block)];
  return hint === undefined ? '' : `; ${hint}`;
}

/** The hint for a key of another program; undefined for a key of none. */
export function foreignKeyHint(key: string, block: unknown): string | undefined {
  const plain = key
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll('-', '_');
  const own = IN_BLOCKS[String(block)] ?? {};
  const found = [own, ANYWHERE].find((words) => Object.hasOwn(words, plain));
  return found?.[plain] ?? foreignPriceHint(plain);
}
