import { hintFor, type ForeignHint } from './foreign-hint.js';
import { foreignPriceHint, PRICE } from './foreign-prices.js';
import { IN_ENDPOINTS } from './foreign-endpoints.js';
import { IN_MANIFESTS, OF_MANIFEST } from './foreign-manifest.js';
import { IDENTITY, SIGN_IN } from './foreign-sign-in.js';
import { BUDGET, BY_MINUTE, RETRIES, TOP } from './foreign-top.js';

/** Google's locations are a part of its address. */
const GOOGLE_ADDRESS =
  'base_url: https://VALUE-aiplatform.googleapis.com/v1/projects/PROJECT/locations/VALUE';

const FALLBACKS: ForeignHint = {
  text: 'remove it, and add { provider: NAME, model: VALUE } to the upstreams of the model',
  list: 'remove it, and add { provider: NAME, model: ID } to upstreams for each of VALUE',
  block: 'add further upstreams to the model: they are the fallbacks',
};

/**
 * Hints for the keys of other gateways and proxies: the key that does the same here, and how to
 * convert the value.
 */
const ANYWHERE: Readonly<Record<string, ForeignHint>> = {
  model_list:
    'models are a block here: models: { NAME: { ... } }; owners and providers are blocks too, ' +
    'as tollgate init writes them',
  litellm_params: {
    block: 'write upstreams: [UPSTREAM] in its place',
    text: 'write upstreams: [{ provider: NAME, model: ID }] in its place',
  },
  litellm_settings: 'settings stand at the top of the file, limits under limits:',
  general_settings: 'settings stand at the top of the file, limits under limits:',
  router_settings: 'upstreams are tried in the order of the list, or by weight: remove this',
  master_key: 'keys are made by tollgate key create',
  virtual_keys: 'keys are made by tollgate key create',
  database_url: 'write store: VALUE',
  custom_llm_provider: 'write uses: NAME in the entry of the provider',
  channels: 'a channel is a provider here: providers: { NAME: { uses: ... } }',
  fallbacks: FALLBACKS,
  fallback: FALLBACKS,
  model_ratio: 'use input_per_million instead: multiply the ratio by 2',
  completion_ratio: 'use output_per_million instead: multiply the ratio by INPUT',
  cache_ratio: 'use cached_input_per_million instead: multiply the ratio by INPUT',
  group_ratio: 'prices are the same for all accounts: write the price itself',
  model_price: 'use per_image for images, in dollars',
  output_cost_per_image: 'use per_image instead, in dollars',
  input_cost_per_image: 'use per_image instead, in dollars',
  output_cost_per_second: 'use per_video_second instead, in dollars',
};

const NAMED = 'the key of the entry is its name: remove this';
const COMMENT_OUT = 'put # before the lines of an entry that should not count';

const RATES: Readonly<Record<string, ForeignHint>> = {
  rps: BY_MINUTE,
  requests_per_second: BY_MINUTE,
  max_requests: BY_MINUTE,
  rpm: BY_MINUTE,
  tpm: BY_MINUTE,
  requests_per_minute: BY_MINUTE,
  tokens_per_minute: BY_MINUTE,
};

const BY_VARIABLE = 'write api_key: "${NAME}", with the name of the variable';

const DIRECT = 'providers are called directly: base_url may name a reverse proxy';
const CERTIFICATES =
  'certificates are always checked: NODE_EXTRA_CA_CERTS=FILE in the environment adds your own';

const PROVIDER: Readonly<Record<string, ForeignHint>> = {
  api_key_env: BY_VARIABLE,
  env_key: BY_VARIABLE,
  proxy_pass: 'write base_url: VALUE',
  upstream: { text: 'write base_url: VALUE' },
  target: { text: 'write base_url: VALUE' },
  request_timeout: { text: 'write timeout: { total: DURATION }' },
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
  organization: 'write headers: { OpenAI-Organization: VALUE }',
  organisation: 'write headers: { OpenAI-Organization: VALUE }',
  org: 'write headers: { OpenAI-Organization: VALUE }',
  models: 'a model names its provider: models: { ID: { upstreams: [{ provider: NAME }] } }',
  enabled: COMMENT_OUT,
  disabled: COMMENT_OUT,
  name: NAMED,
  retries: RETRIES,
  max_retries: RETRIES,
  num_retries: RETRIES,
  retry: RETRIES,
  proxy: DIRECT,
  http_proxy: DIRECT,
  https_proxy: DIRECT,
  ssl_verify: CERTIFICATES,
  verify: CERTIFICATES,
  verify_ssl: CERTIFICATES,
  insecure: CERTIFICATES,
  ca: CERTIFICATES,
  ...RATES,
  weight: 'an upstream of a model has it: upstreams: [{ provider: NAME, weight: 1 }]',
  priority: 'the order of the upstreams of a model is the priority',
  location: { text: `write ${GOOGLE_ADDRESS}` },
  vertex_location: { text: `write ${GOOGLE_ADDRESS}` },
  account_id: 'write resource: VALUE',
  azure_endpoint: { text: 'write resource: LABEL' },
  azure_resource: 'write resource: VALUE',
  resource_name: 'write resource: VALUE',
  aws_region: 'write region: VALUE',
  aws_region_name: 'write region: VALUE',
  credentials: { text: 'write service_account: ${file:VALUE}' },
  credentials_file: { text: 'write service_account: ${file:VALUE}' },
  vertex_credentials: { text: 'write service_account: ${file:VALUE}' },
  deployment: 'it belongs to an upstream: upstreams: [{ provider: NAME, model: DEPLOYMENT }]',
  model_mapping: 'it belongs to an upstream: upstreams: [{ provider: NAME, model: ID }]',
  network_config: 'write timeout: { total: 60s }',
  operations: OF_MANIFEST,
  auth: OF_MANIFEST,
  codec: OF_MANIFEST,
  wire: OF_MANIFEST,
};

const ACCESS = 'a key may be for some models only: tollgate key create ACCOUNT --model ID';
const NO_PROMPT = 'no key adds a prompt; a stage of your own can: see docs/stages.md';

const MODEL: Readonly<Record<string, ForeignHint>> = {
  capability: { text: 'write capabilities: [VALUE]' },
  upstream: {
    text: 'write upstreams: [{ provider: VALUE }]',
    block: 'write upstreams: [VALUE]',
  },
  pricing: { block: 'write price: { PRICES }' },
  costs: { block: 'write price: { PRICES }' },
  cost: { block: 'write price: { PRICES }' },
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
  tags: 'there are none: a comment begins with #',
  metadata: 'there is none: a comment begins with #',
  hidden: ACCESS,
  visible: ACCESS,
  access: ACCESS,
  teams: ACCESS,
  allowed_keys: ACCESS,
  cache: 'answers are not cached: remove it',
  cooldown: RETRIES,
  cooldown_time: RETRIES,
  max_parallel_requests: BY_MINUTE,
  guardrails: 'stages check requests: endpoints: { "*": { after: { validate: [mask] } } }',
  response_format:
    'clients send it, and an upstream may set it: upstreams: [{ provider: NAME, set: { ... } }]',
  system_prompt: NO_PROMPT,
  system: NO_PROMPT,
  prompt: NO_PROMPT,
  instructions: NO_PROMPT,
  group: ACCESS,
  groups: ACCESS,
  temperature: 'an upstream sets it: upstreams: [{ provider: NAME, set: { temperature: VALUE } }]',
  endpoints: 'those stand at the top, and serve each model with the capability of their route',
  max_budget: BUDGET,
  budget: BUDGET,
  model_info: 'use limits, price and capabilities instead',
  supports_vision: 'write capabilities: [chat, vision]',
  supports_function_calling: 'write capabilities: [chat, tools]',
  top_p: 'an upstream sets it: upstreams: [{ provider: NAME, set: { top_p: VALUE } }]',
};

const UPSTREAM: Readonly<Record<string, ForeignHint>> = {
  priority: 'the order of the list is the priority',
  order: 'the order of the list is the priority',
  name: 'write provider: NAME, and model: ID',
  id: 'write model: ID',
  deployment: 'write model: DEPLOYMENT',
  models: { list: 'an upstream has one model: write an entry for each, with model: ID' },
  ...RATES,
  enabled: COMMENT_OUT,
  temperature: 'write set: { temperature: VALUE }',
  override_params: { block: 'write set: VALUE' },
  extra_body: { block: 'write set: VALUE' },
  params: { block: 'write set: VALUE' },
  parameters: { block: 'write set: VALUE' },
  options: { block: 'write set: VALUE' },
  retries: RETRIES,
};

const TIMEOUT: Readonly<Record<string, ForeignHint>> = {
  read: 'use first_byte (until the answer begins) or idle (within the answer)',
  response: 'use first_byte instead, the time until the answer begins',
  ttfb: 'use first_byte instead, the time until the answer begins',
  first_token: 'use first_byte instead, the time until the answer begins',
  stream: 'use idle instead, the time that a stream may be silent',
  request: 'use total instead, the time of the whole call',
  write: 'use total instead, the time of the whole call',
};

/** By the title of the block in its schema. */
const IN_BLOCKS: Readonly<Record<string, Readonly<Record<string, ForeignHint>>>> = {
  GatewayFile: TOP,
  ProviderEntry: PROVIDER,
  ModelEntry: MODEL,
  UpstreamEntry: UPSTREAM,
  'UpstreamEntry of a provider': { ...UPSTREAM, name: { text: 'write model: VALUE' } },
  PriceEntry: PRICE,
  'PriceEntry of video': {
    ...PRICE,
    per_second: 'use per_video_second instead, in dollars',
    per_minute: 'use per_video_second instead: divide by 60',
  },
  'PriceEntry of transcription': {
    ...PRICE,
    per_second: 'use per_audio_minute instead: multiply by 60',
    per_minute: 'use per_audio_minute instead, in dollars',
  },
  TimeoutBlock: TIMEOUT,
  SignInBlock: SIGN_IN,
  IdentityProviderEntry: IDENTITY,
  ...IN_ENDPOINTS,
  ModelLimitsBlock: { ...RATES, dimensions: 'each request names its dimensions: remove this' },
  ...IN_MANIFESTS,
  SessionBlock: {
    ttl: 'write lifetime: VALUE',
    max: 'write lifetime: VALUE',
    absolute: 'write lifetime: VALUE',
    max_age: 'write lifetime: VALUE',
    expires: 'write lifetime: VALUE',
    timeout: 'write idle: VALUE',
  },
  LimitsBlock: {
    ...RATES,
    client_max_body_size: { text: 'write body: SIZE' },
    max_tokens: 'each model has it, at models.NAME.limits; default_max_tokens is for all of them',
  },
  LogBlock: {
    file: 'the log goes to standard error: the service manager or a shell puts it into a file',
    path: 'the log goes to standard error: the service manager or a shell puts it into a file',
    output: 'the log goes to standard error: the service manager or a shell puts it into a file',
  },
  FirstStart: { key: 'the gateway makes the key, and prints it once: remove this' },
  RequestsBlock: { retention: 'write keep: 30d', ttl: 'write keep: 30d' },
  TracesBlock: {
    endpoint: 'write otlp: VALUE',
    url: 'write otlp: VALUE',
    sampling: 'write sample: 0.1',
    sampling_rate: 'write sample: VALUE',
    sample_rate: 'write sample: VALUE',
    ratio: 'write sample: 0.1',
  },
  AlertsBlock: {
    events: 'every kind of alert is sent: remove this',
    types: 'every kind of alert is sent: remove this',
    url: 'write webhook: VALUE',
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
export function foreignKeyHint(key: string, block: unknown, value: unknown): string | undefined {
  const plain = key
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll('-', '_');
  const own = IN_BLOCKS[String(block)] ?? {};
  const found = [own, ANYWHERE].find((words) => Object.hasOwn(words, plain));
  return hintFor(found?.[plain], value) ?? foreignPriceHint(plain);
}
