import type { Capability } from '../../../core/model.js';
import type { ContentPart } from '../../../schema-types/chat-completion.js';

const NEEDED = {
  image_url: { capability: 'vision', kind: 'image' },
  input_audio: { capability: 'audio', kind: 'sound' },
  file: { capability: 'file', kind: 'document' },
} as const;

/** The kind of a part that a model with these capabilities cannot read; undefined if it can. */
export function hiddenKind(
  { type }: ContentPart,
  capabilities: ReadonlySet<Capability>,
): string | undefined {
  if (type === 'text') return undefined;
  const { capability, kind } = NEEDED[type];
  return capabilities.has(capability) ? undefined : kind;
}

/**
 * The text in place of a part of a tool's result that the model cannot read. An agent sends its
 * results again with each request, so refusing one would end its session.
 */
export function hiddenText(kind: string): ContentPart {
  return { type: 'text', text: `(What cannot be shown to this model: one ${kind}.)` };
}
