/** A gateway.yaml for processes of their own: the model `m` at one upstream, at a known price. */
export function pricedYaml(parts: {
  upstream: string;
  store: string;
  max_tokens?: number;
  /** Further entries of `providers` and `models`, as YAML. */
  providers?: string;
  models?: string;
}): string {
  const { upstream, store, max_tokens, providers = '', models = '' } = parts;
  const limits = max_tokens === undefined ? '' : `    limits: { max_tokens: ${max_tokens} }\n`;
  return `listen: 127.0.0.1:0
store: ${JSON.stringify(store)}
log: { level: silent }
owners: { acme: { name: Acme } }
providers: { up: { uses: openai, base_url: "${upstream}", api_key: sk-upstream }${providers} }
models:
  m:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: up }]
${limits}    price: { input_per_million: 0.15, output_per_million: 0.60 }
${models}`;
}
