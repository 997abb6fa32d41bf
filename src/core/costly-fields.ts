/**
 * Fields by which a client could spend more than the hold, or use what the operator did not allow:
 * dearer tiers, regions and speeds, searches and other work of the upstream's own, longer, larger
 * or more answers, prompts that are kept elsewhere, and whole parts of a request. No client sends
 * them, in any spelling, whatever `passthrough` lists. What raises the cost inside a field that is
 * sent is left out in `modalities/chat/cost-guard.ts`.
 */
export const COSTLY: readonly string[] = [
  'additional_model_request_fields',
  'agents',
  'anthropic_beta',
  'audio',
  'background',
  'best_of',
  'betas',
  'cached_content',
  'candidate_count',
  'compound_custom',
  'connectors',
  'constructor',
  'container',
  'conversation',
  'enable_code_interpreter',
  'enable_search',
  'enable_web_search',
  'extra_body',
  'extra_headers',
  'fallbacks',
  'generation_config',
  'guardrail_config',
  'height',
  'image_size',
  'inference_config',
  'inference_geo',
  'max_gen_len',
  'max_images',
  'max_length',
  'max_new_tokens',
  'max_output_tokens',
  'max_tokens_to_sample',
  'mcp_servers',
  'media_resolution',
  'megapixels',
  'min_tokens',
  'modalities',
  'models',
  'n_predict',
  'num_completions',
  'num_images',
  'num_outputs',
  'num_predict',
  'num_return_sequences',
  'number_of_images',
  'options',
  'output_modalities',
  'partial_images',
  'performance_config',
  'plugins',
  'prediction',
  'preset',
  'previous_response_id',
  'priority',
  'processing_tier',
  'prompt_variables',
  'prototype',
  'provider',
  'residency',
  'route',
  'search_context_size',
  'search_mode',
  'search_options',
  'search_parameters',
  'search_settings',
  'search_type',
  'service_tier',
  'speed',
  'tool_config',
  'use_beam_search',
  'web_search',
  'web_search_options',
  'width',
];

/** A field in the one spelling of `serviceTier`, `service-tier` and `service_tier`. */
export function spelling(field: string): string {
  return field.replaceAll(/[_-]/gu, '').toLowerCase();
}

const MARK = spelling('cache_control');

/**
 * Whether a value has a mark for the cache somewhere inside: a long life costs more, and nothing
 * reads what stands there.
 */
export function holdsCacheMark(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, inner]) => spelling(name) === MARK || holdsCacheMark(inner),
  );
}

const COSTLY_SPELLINGS = new Set(COSTLY.map(spelling));

/** Whether a field could raise the cost of a call, in any spelling of its name. */
export function isCostly(field: string): boolean {
  return COSTLY_SPELLINGS.has(spelling(field));
}
