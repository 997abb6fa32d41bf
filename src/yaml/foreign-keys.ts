import { foreignPriceHint } from './foreign-prices.js';
import { IDENTITY, SIGN_IN } from './foreign-sign-in.js';

/**
 * Keys of other gateways and proxies, and their place here. They are too different to be typing
 * errors, and prices also count in other units.
 */
const ANYWHERE: Readonly<Record<string, string>> = {
  model_list: 'models are a block here: models: { NAME: { ... } }',
  litellm_params: 'an upstream says it: upstreams: [{ provider: NAME, model: ID }]',
  litellm_settings: 'settings stand at the top of the file, limits under limits:',
  general_settings: 'settings stand at the top of the file, limits under limits:',
  router_settings: 'upstreams are tried in the order of the list, or by weight',
  master_key: 'keys are made by tollgate key create',
  virtual_keys: 'keys are made by tollgate key create',
  database_url: 'store: postgres://... says it',
  custom_llm_provider: 'uses: NAME says it, at a provider',
  channels: 'a channel is a provider here: providers: { NAME: { uses: ... } }',
  fallbacks: 'further entries of upstreams are the fallbacks',
  fallback: 'further entries of upstreams are the fallbacks',
  model_ratio: 'input_per_million says it: a ratio of 1 is 2 dollars',
  completion_ratio: 'output_per_million says it: the input price times this ratio',
  cache_ratio: 'cached_input_per_million says it: the input price times this ratio',
  group_ratio: 'prices are the same for all accounts: write the price itself',
  model_price: 'per_image says it for images, in dollars',
  output_cost_per_image: 'per_image says it, in dollars',
  input_cost_per_image: 'per_image says it, in dollars',
  output_cost_per_second: 'per_video_second says it, in dollars',
};

const OTHER_FILE = 'this is the file of another program: tollgate init writes a gateway.yaml';
const RETRIES = 'further entries of upstreams are the retries: each of them is asked once';
const BY_MINUTE =
  'there is no limit by the minute: a key has one in dollars, tollgate key create --limit';
const BUDGET = 'a key has one: tollgate key create ACCOUNT --limit 5.00';
const KEYS = 'the command line makes them: tollgate account create, tollgate key create';
const STAGES = 'endpoints have stages: endpoints: { NAME: { before: { STAGE: [...] } } }';
const NAMED = 'the key of the entry is its name: remove this';
const COMMENT_OUT = 'put # before the lines of an entry that should not count';
const SIGNING = 'sign_in lets people into the dashboard; clients have keys of tollgate key create';
const PROXY = 'a proxy in front speaks TLS: public_url says its address, such as https://YOUR.HOST';

const TOP: Readonly<Record<string, string>> = {
  port: 'listen says it: listen: 127.0.0.1:8080',
  host: 'listen says it: listen: 127.0.0.1:8080',
  bind: 'listen says it: listen: 127.0.0.1:8080',
  address: 'listen says it: listen: 127.0.0.1:8080',
  server: 'listen says it: listen: 127.0.0.1:8080',
  database: 'store says it: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE',
  db: 'store says it: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE',
  storage: 'store says it: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE',
  redis: 'all state is in the store: nothing else is needed',
  log_level: 'log says it: log: { level: VALUE }',
  logging: 'log says it: log: { level: VALUE }',
  tls: PROXY,
  ssl: PROXY,
  https: PROXY,
  workers: 'the command says it: tollgate serve --workers VALUE',
  processes: 'the command says it: tollgate serve --workers VALUE',
  auth: SIGNING,
  authentication: SIGNING,
  oidc: 'sign_in says it: sign_in: { providers: { NAME: { issuer: URL, client_id: ID } } }',
  oauth: 'sign_in says it: sign_in: { providers: { NAME: { issuer: URL, client_id: ID } } }',
  sso: 'sign_in says it: sign_in: { providers: { NAME: { issuer: URL, client_id: ID } } }',
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
  routes: 'endpoints says it: endpoints: { NAME: { at: POST /PATH, stages: [...] } }',
  services: OTHER_FILE,
  _format_version: OTHER_FILE,
  static_resources: OTHER_FILE,
  api_version: OTHER_FILE,
  http: OTHER_FILE,
  upstreams: 'each model has its own: models: { NAME: { upstreams: [{ provider: NAME }] } }',
  targets: 'each model has its own: models: { NAME: { upstreams: [{ provider: NAME }] } }',
  strategy: 'the upstreams of a model are tried in their order, or share the load by weight',
  prometheus: 'metrics says it: metrics: 127.0.0.1:9464',
  opentelemetry: 'traces says it: traces: { otlp: http://127.0.0.1:4318/v1/traces }',
  otel: 'traces says it: traces: { otlp: http://127.0.0.1:4318/v1/traces }',
  tracing: 'traces says it: traces: { otlp: http://127.0.0.1:4318/v1/traces }',
  webhook: 'alerts says it: alerts: { webhook: URL, secret: "${ALERT_SECRET}" }',
  webhooks: 'alerts says it: alerts: { webhook: URL, secret: "${ALERT_SECRET}" }',
  admin: 'dashboard: true serves it, and sign_in says who may come in',
  defaults: 'a home for anchors begins with x-: call it x-defaults',
};

const PROVIDER: Readonly<Record<string, string>> = {
  type: 'uses says it: uses: VALUE',
  kind: 'uses says it: uses: VALUE',
  manifest: 'uses says it: uses: VALUE',
  adapter: 'uses says it: uses: VALUE',
  driver: 'uses says it: uses: VALUE',
  provider: 'uses says it: uses: VALUE',
  format: 'uses says it: uses: VALUE',
  api_type: 'uses says it: uses: VALUE',
  api_keys: 'an entry has one api_key: a second entry with the same "uses" has the other',
  keys: 'an entry has one api_key: a second entry with the same "uses" has the other',
  organization: 'headers says it: headers: { NAME: VALUE }',
  organisation: 'headers says it: headers: { NAME: VALUE }',
  org: 'headers says it: headers: { NAME: VALUE }',
  models: 'a model names its provider: models: { ID: { upstreams: [{ provider: NAME }] } }',
  enabled: COMMENT_OUT,
  disabled: COMMENT_OUT,
  name: NAMED,
  retries: RETRIES,
  max_retries: RETRIES,
  num_retries: RETRIES,
  rpm: BY_MINUTE,
  tpm: BY_MINUTE,
  weight: 'an upstream of a model has it: upstreams: [{ provider: NAME, weight: 1 }]',
  priority: 'the order of the upstreams of a model is the priority',
  location: 'region says it',
  account_id: 'resource says it, where the manifest has {resource}',
  deployment: 'an upstream says it: upstreams: [{ provider: NAME, model: DEPLOYMENT }]',
  model_mapping: 'an upstream says it: upstreams: [{ provider: NAME, model: ID }]',
  network_config: 'timeout says it: timeout: { total: 60s }',
};

const MODEL: Readonly<Record<string, string>> = {
  provider: 'an upstream says it: upstreams: [{ provider: VALUE, model: ID }]',
  model: 'an upstream says it: upstreams: [{ provider: NAME, model: VALUE }]',
  providers: 'upstreams says it: upstreams: [{ provider: NAME, model: ID }]',
  aliases: 'another name is another entry under models: an anchor saves writing it again',
  alias: 'another name is another entry under models: an anchor saves writing it again',
  name: NAMED,
  display_name: NAMED,
  description: 'there is none: a comment begins with #',
  mode: 'capabilities says it: capabilities: [chat]',
  type: 'capabilities says it: capabilities: [chat]',
  enabled: COMMENT_OUT,
  disabled: COMMENT_OUT,
  rpm: BY_MINUTE,
  tpm: BY_MINUTE,
  rate_limit: BY_MINUTE,
  retries: RETRIES,
  timeout: 'each provider has it: providers: { NAME: { timeout: { total: 60s } } }',
  group: 'a key may be for some models only: tollgate key create ACCOUNT --model ID',
  groups: 'a key may be for some models only: tollgate key create ACCOUNT --model ID',
  temperature: 'an upstream sets it: upstreams: [{ provider: NAME, set: { temperature: VALUE } }]',
  endpoints: 'those stand at the top, and serve each model with the capability of their route',
  max_budget: BUDGET,
  budget: BUDGET,
  model_info: 'limits, price and capabilities say it',
  supports_vision: 'capabilities says it: capabilities: [chat, vision]',
  supports_function_calling: 'capabilities says it: capabilities: [chat, tools]',
  top_p: 'an upstream sets it: upstreams: [{ provider: NAME, set: { top_p: VALUE } }]',
};

const UPSTREAM: Readonly<Record<string, string>> = {
  priority: 'the order of the list is the priority',
  order: 'the order of the list is the priority',
  name: 'provider says it: provider: NAME, and model: ID',
  id: 'model says it: model: ID',
  deployment: 'model says it: model: DEPLOYMENT',
  rpm: BY_MINUTE,
  tpm: BY_MINUTE,
  enabled: COMMENT_OUT,
  temperature: 'set says it: set: { temperature: VALUE }',
  override_params: 'set says it: set: { FIELD: VALUE }',
  retries: RETRIES,
};

const PRICE: Readonly<Record<string, string>> = {
  prompt: 'input_per_million says it: multiply the price of one token by 1000000',
  completion: 'output_per_million says it: multiply the price of one token by 1000000',
  input: 'input_per_million says it, in dollars for a million tokens',
  output: 'output_per_million says it, in dollars for a million tokens',
  currency: 'all prices are dollars: convert them, and remove this',
  unit: 'each key has its unit in its name: remove this',
  markup: 'write the prices that you charge: nothing is added to them',
  multiplier: 'write the prices that you charge: nothing is added to them',
  list: 'price: list takes the list prices; yours are written out, key by key',
  free: 'price: free stands alone',
  per_request: 'calls are charged by tokens, images, seconds or characters alone',
  request: 'calls are charged by tokens, images, seconds or characters alone',
  image: 'per_image says it, in dollars for an image that is made',
  per_video_minute: 'per_video_second says it: divide by 60',
  per_second: 'per_video_second or per_audio_minute says it',
  per_minute: 'per_audio_minute or per_video_second says it',
  per_audio_second: 'per_audio_minute says it: multiply by 60',
  per_audio_hour: 'per_audio_minute says it: divide by 60',
  per_character: 'per_million_characters says it: multiply by 1000000',
  per_thousand_characters: 'per_million_characters says it: multiply by 1000',
  per_1k_characters: 'per_million_characters says it: multiply by 1000',
};

const TIMEOUT: Readonly<Record<string, string>> = {
  read: 'first_byte or idle says it: before the answer begins, or in the middle of it',
  response: 'first_byte says it: the time until the answer begins',
  ttfb: 'first_byte says it: the time until the answer begins',
  first_token: 'first_byte says it: the time until the answer begins',
  stream: 'idle says it: how long a stream may be silent',
  request: 'total says it: the time of the whole call',
  write: 'total says it: the time of the whole call',
};

const ENDPOINT: Readonly<Record<string, string>> = {
  path: 'at says method and path: at: POST VALUE',
  url: 'at says method and path: at: POST VALUE',
  route: 'at says method and path: at: POST VALUE',
  method: 'at says method and path: at: POST /v1/NAME',
  methods: 'at says method and path: at: POST /v1/NAME',
  enabled: 'an endpoint is taken away by NAME: off',
  plugins: 'stages says it, or before and after',
  middleware: 'stages says it, or before and after',
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
  LimitsBlock: {
    rpm: BY_MINUTE,
    tpm: BY_MINUTE,
    requests_per_minute: BY_MINUTE,
    max_tokens: 'each model has it, at models.NAME.limits; default_max_tokens is for all of them',
  },
  LogBlock: {
    file: 'the log goes to standard error: the service manager or a shell puts it into a file',
    path: 'the log goes to standard error: the service manager or a shell puts it into a file',
    output: 'the log goes to standard error: the service manager or a shell puts it into a file',
  },
  RequestsBlock: { retention: 'keep says it: keep: 30d', ttl: 'keep says it: keep: 30d' },
  TracesBlock: {
    endpoint: 'otlp says it: otlp: VALUE',
    url: 'otlp says it: otlp: VALUE',
    sampling: 'sample says it: sample: 0.1',
    ratio: 'sample says it: sample: 0.1',
  },
  AlertsBlock: {
    url: 'webhook says it: webhook: https://hooks.example.com/tollgate',
    slack: 'webhook says it: a receiver of your own, which may write to a chat',
    email: 'webhook says it: a receiver of your own, which may send mail',
  },
};

/** What a block that is easily taken for another one is not for, by its title. */
const NOT_FOR: Readonly<Record<string, string>> = {
  HeadersBlock: 'headers for a provider stand at providers.NAME.headers',
};

/** The end of a hint for any key that is not known in a block. */
export function notForHint(block: unknown): string {
  const hint = NOT_FOR[String(block)];
  return hint === undefined ? '' : `; ${hint}`;
}

/** The hint for a key that another program has; undefined for any other. */
export function foreignKeyHint(key: string, block: unknown): string | undefined {
  const plain = key
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll('-', '_');
  const own = IN_BLOCKS[String(block)] ?? {};
  const found = [own, ANYWHERE].find((words) => Object.hasOwn(words, plain));
  return found?.[plain] ?? foreignPriceHint(plain);
}
