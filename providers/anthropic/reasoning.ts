import type { ReasoningDetail } from '../../src/modalities/chat/codec.js';
import { isRecord } from '../../src/lib/objects.js';
import type { ReasoningBlock } from './wire.js';

/** Whose form the parts have: wherever Claude is served, its signatures are the same. */
export const FORMAT = 'anthropic-claude-v1';

/** A thinking block as the client gets it, to send it back with the next turn. */
export function detailOf(block: ReasoningBlock, index: number): ReasoningDetail {
  return block.type === 'thinking'
    ? {
        type: 'reasoning.text',
        text: block.thinking,
        signature: block.signature,
        format: FORMAT,
        index,
      }
    : { type: 'reasoning.encrypted', data: block.data, format: FORMAT, index };
}

interface OpenText {
  index: unknown;
  text: string;
  signature: string;
}

/**
 * The thinking blocks that a client has brought back, in their order. Parts of one text, as a
 * stream gave them, are joined. A text without its signature is left out: the API refuses it.
 */
export function reasoningBlocks(details: readonly unknown[] | null | undefined): ReasoningBlock[] {
  const blocks: ReasoningBlock[] = [];
  let open: OpenText | undefined;
  const close = (): void => {
    if (open?.signature) {
      blocks.push({ type: 'thinking', thinking: open.text, signature: open.signature });
    }
    open = undefined;
  };
  for (const detail of details ?? []) {
    if (!isRecord(detail) || detail.format !== FORMAT) continue;
    const { type, index, data } = detail;
    if (type === 'reasoning.encrypted' && typeof data === 'string') {
      close();
      blocks.push({ type: 'redacted_thinking', data });
    } else if (type === 'reasoning.text') {
      if (open && !continues(open, index)) close();
      open ??= { index, text: '', signature: '' };
      open.text += textOfDetail(detail.text);
      open.signature += textOfDetail(detail.signature);
    }
  }
  close();
  return blocks;
}

function continues(open: OpenText, index: unknown): boolean {
  return index === undefined ? open.signature === '' : open.index === index;
}

function textOfDetail(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
