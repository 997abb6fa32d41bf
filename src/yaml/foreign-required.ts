/** Keys of other programs, with the required keys that they replace: one fault covers both. */
const STANDS_FOR: Readonly<Record<string, readonly string[]>> = {
  model_list: ['owners', 'providers', 'models'],
  channels: ['owners', 'providers', 'models'],
  services: ['owners', 'providers', 'models'],
  static_resources: ['owners', 'providers', 'models'],
  targets: ['owners', 'providers', 'models'],
  http: ['owners', 'providers', 'models'],
  provider: ['upstreams'],
  providers: ['upstreams'],
  model: ['upstreams'],
  litellm_params: ['upstreams'],
  mode: ['capabilities'],
  path: ['at'],
  url: ['at', 'webhook', 'otlp'],
  endpoint: ['at', 'otlp', 'resource'],
  method: ['at'],
  methods: ['at'],
  route: ['at'],
  slack: ['webhook'],
  email: ['webhook'],
  azure_endpoint: ['resource'],
  resource_name: ['resource'],
  azure_resource: ['resource'],
  account_id: ['resource'],
  aws_region: ['region'],
  aws_region_name: ['region'],
  location: ['region'],
  credentials: ['api_key'],
  credentials_file: ['api_key'],
  vertex_credentials: ['api_key'],
};

/** The required keys that a key of another program replaces. */
export function requiredFor(key: string): readonly string[] {
  return Object.hasOwn(STANDS_FOR, key) ? (STANDS_FOR[key] ?? []) : [];
}
