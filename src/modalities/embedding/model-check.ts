import { quote, type Source } from '../../yaml/source.js';
import {
  bareName,
  hasOwnAddress,
  type CheckedModel,
  type CheckedUpstream,
} from '../../pipeline/model-check.js';

/** Families of models for embeddings, whoever serves them. */
const VECTORS =
  /text-embedding|mistral-embed|arctic-embed|nomic|jina|voyage|minilm|mxbai|\b(?:bge|e5|gte)\b/i;

/** Warns of embeddings by several models: their vectors do not compare. */
export function checkVectors({ source, capabilities, upstreams }: CheckedModel): void {
  if (!capabilities.has('embedding')) return;
  const [first, ...others] = upstreams.filter((one) => hasKnownName(source, one));
  if (!first) return;
  const other = others.find((one) => makesOthers(source, first, one));
  if (!other) return;
  const [own, mixed] = [first, other].map(({ upstream }) => quote(upstream.model));
  source.fault(other.pointer, {
    code: 'mixed_vectors',
    message: `${mixed} makes other vectors than ${own}, and an index of both finds nothing`,
    hint: 'make it a model of its own, and remove it here',
    severity: 'warning',
  });
}

/** Whether the name of a model for embeddings is that of its maker, and not of a deployment. */
function hasKnownName(source: Source, { upstream, read }: CheckedUpstream): boolean {
  if (read.manifest.data.base_url?.includes('{resource}')) return false;
  const isOwn = hasOwnAddress(source, upstream.provider.name);
  return VECTORS.test(upstream.model) || (!isOwn && /embed/i.test(upstream.model));
}

/** Whether two known names are of different models. At an own address, of different families. */
function makesOthers(source: Source, one: CheckedUpstream, other: CheckedUpstream): boolean {
  const [a, b] = [one, other].map(({ upstream }) => bareName(upstream.model));
  const isOwn = [one, other].some(({ upstream }) => hasOwnAddress(source, upstream.provider.name));
  const [own, mixed] = [a, b].map((name = '') => VECTORS.exec(name)?.[0]);
  return isOwn ? own !== mixed : a !== b;
}
