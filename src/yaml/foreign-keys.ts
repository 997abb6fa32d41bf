/**
 * Keys of LiteLLM and one-api, and their place here. They are too different to be typing errors,
 * and prices also count in other units.
 */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['model_list', 'models are a block here: models: { NAME: { ... } }'],
  ['litellm_params', 'an upstream says it: upstreams: [{ provider: NAME, model: ID }]'],
  ['litellm_settings', 'settings stand at the top of the file, limits under limits:'],
  ['general_settings', 'settings stand at the top of the file, limits under limits:'],
  ['router_settings', 'upstreams are tried in the order of the list, or by weight'],
  ['master_key', 'keys are made by tollgate key create'],
  ['virtual_keys', 'keys are made by tollgate key create'],
  ['database_url', 'store: postgres://... says it'],
  ['api_version', 'an Azure provider says it as api_version in its address'],
  ['custom_llm_provider', 'uses: NAME says it, at a provider'],
  ['channels', 'a channel is a provider here: providers: { NAME: { uses: ... } }'],
  ['fallbacks', 'further entries of upstreams are the fallbacks'],
  ['input_cost_per_token', 'input_per_million says it: multiply by 1000000'],
  ['output_cost_per_token', 'output_per_million says it: multiply by 1000000'],
  ['cache_read_input_token_cost', 'cached_input_per_million says it: multiply by 1000000'],
  ['cache_creation_input_token_cost', 'cache_write_per_million says it: multiply by 1000000'],
  ['input_cost_per_audio_token', 'audio_input_per_million says it: multiply by 1000000'],
  ['output_cost_per_audio_token', 'audio_output_per_million says it: multiply by 1000000'],
  ['output_cost_per_image', 'per_image says it, in dollars'],
  ['input_cost_per_image', 'per_image says it, in dollars'],
  ['output_cost_per_second', 'per_video_second says it, in dollars'],
  ['input_cost_per_1k_tokens', 'input_per_million says it: multiply by 1000'],
  ['output_cost_per_1k_tokens', 'output_per_million says it: multiply by 1000'],
  ['model_ratio', 'input_per_million says it: a ratio of 1 is 2 dollars'],
  ['completion_ratio', 'output_per_million says it: the input price times this ratio'],
  ['cache_ratio', 'cached_input_per_million says it: the input price times this ratio'],
  ['group_ratio', 'prices are the same for all accounts: write the price itself'],
  ['model_price', 'per_image says it for images, in dollars'],
]);

/** The hint for a key that another gateway calls so; undefined for any other. */
export function foreignKeyHint(key: string): string | undefined {
  return FOREIGN.get(key.toLowerCase().replaceAll('-', '_'));
}
