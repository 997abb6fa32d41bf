/** Keys of other programs that stand for required ones, which are then not missing as well. */
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
  url: ['at'],
  route: ['at'],
};

/** The required keys that a key of another program stands for. */
export function requiredFor(key: string): readonly string[] {
  return Object.hasOwn(STANDS_FOR, key) ? (STANDS_FOR[key] ?? []) : [];
}
