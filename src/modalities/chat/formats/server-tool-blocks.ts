import { isServerToolBlock } from '../../../core/block-fields.js';
import { holdsCacheMark } from '../../../core/costly-fields.js';
import { isRecord } from '../../../lib/objects.js';
import type { MessagesBlock } from '../../../schema-types/messages.js';
import { isMadeHere } from './hosted-search.js';

/**
 * The blocks of tools that Claude's own API has run, in a turn that its client sends back: all of
 * them or none, as one may stand for what another one began.
 */
export function serverToolBlocks(blocks: readonly MessagesBlock[]): MessagesBlock[] {
  const own = blocks.filter(isServerToolBlock);
  return own.some((block) => isMadeHere(block) || holdsUnmeasured(block)) ? [] : own;
}

/** Whether a block has what may cost more than its bytes: files, their IDs, marks for the cache. */
function holdsUnmeasured({ input, content }: MessagesBlock): boolean {
  return [input, content].some((value) => holdsCacheMark(value) || holdsFile(value));
}

function holdsFile(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsFile);
  if (!isRecord(value)) return false;
  const { source } = value;
  if (isRecord(source) && source.type !== 'text') return true;
  return 'file_id' in value || Object.values(value).some(holdsFile);
}
