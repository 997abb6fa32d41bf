import { nearestWord } from '../yaml/did-you-mean.js';

/**
 * What people call a provider whose manifest has another name, without case and punctuation. For
 * hints alone: a provider that is not here works as well.
 */
export const EVERYDAY: Readonly<Record<string, string>> = {
  aistudio: 'gemini',
  aws: 'bedrock',
  awsbedrock: 'bedrock',
  amazon: 'bedrock',
  amazonbedrock: 'bedrock',
  azureopenai: 'azure',
  chatgpt: 'openai',
  claude: 'anthropic',
  dashscope: 'alibaba',
  gcp: 'vertex',
  google: 'gemini',
  googleai: 'gemini',
  googleaistudio: 'gemini',
  gpt: 'openai',
  grok: 'xai',
  hf: 'huggingface',
  kimi: 'moonshot',
  llamacpp: 'llama-cpp',
  microsoft: 'azure',
  pplx: 'perplexity',
  qwen: 'alibaba',
  vertexai: 'vertex',
};

/** The manifest that is meant, if it is there: by its everyday name, or by a name that is near. */
export function meantBy(uses: string, names: readonly string[]): string | undefined {
  const plain = uses.toLowerCase().replaceAll(/[\s._-]/gu, '');
  const meant = Object.hasOwn(EVERYDAY, plain) ? EVERYDAY[plain] : undefined;
  return meant !== undefined && names.includes(meant) ? meant : nearestWord(uses, names);
}
