import type { SourceTexts } from '../../lib/source-texts.js';
import type { ChatMessage } from '../../schema-types/chat-completion.js';

/** So much of each end of a text is read. */
const END_CHARACTERS = 1_000;

/**
 * What tells a conversation from others in each of its turns: its instructions, and the first
 * message after them. Of long texts only the ends and the length are in it. Unseals what it reads.
 */
export function beginningOf(messages: readonly ChatMessage[], texts?: SourceTexts): string {
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const until = first === -1 ? messages.length : first + 1;
  const read = messages.slice(0, until);
  texts?.unseal(read);
  return read.flatMap(endsOfMessage).join('\0');
}

function endsOfMessage({ content }: ChatMessage): string[] {
  if (typeof content === 'string') return endsOfText(content);
  return (content ?? []).flatMap((part) =>
    part.type === 'text' ? endsOfText(part.text) : [part.type],
  );
}

function endsOfText(text: string): string[] {
  if (text.length <= 2 * END_CHARACTERS) return [text];
  return [text.slice(0, END_CHARACTERS), text.slice(-END_CHARACTERS), String(text.length)];
}
