import type { Capability } from '../core/model.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { ReadUpstream } from './upstreams.js';

/** The work that a model is listed for, by whether its list price has output tokens. */
const WORK = [
  { capability: 'embedding', has_output: false, does: 'makes embeddings' },
  { capability: 'chat', has_output: true, does: 'writes text' },
] as const;

/** Warns of a model for chat that is offered for embeddings, and of the reverse. */
export function checkWork(
  source: Source,
  pointer: string,
  capabilities: ReadonlySet<Capability>,
  upstreams: readonly ReadUpstream[],
): void {
  for (const { listed, price_at } of upstreams) {
    if (!listed?.units.includes('input_per_million')) continue;
    const has_output = listed.units.includes('output_per_million');
    // A list without the price of output has a fault of its own.
    if (!has_output && source.text(price_at) === 'list') continue;
    const own = WORK.find((work) => work.has_output === has_output);
    const other = WORK.find((work) => work.has_output !== has_output);
    if (!own || !other || !capabilities.has(other.capability)) continue;
    const at = [...capabilities].indexOf(other.capability);
    source.fault(`${pointer}/capabilities${join(at)}`, {
      code: 'other_work',
      message: `capabilities: ${quote(listed.model)} ${own.does}, so ${other.capability} fails`,
      hint: `write capabilities: [${own.capability}]`,
      severity: 'warning',
    });
    return;
  }
}
