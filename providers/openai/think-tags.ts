import type { Provider } from '../../src/core/provider.js';
import type { ChatCall } from '../../src/modalities/chat/codec.js';

/** Where a text is that may open with its reasoning, and what cannot be told apart yet. */
export interface Think {
  phase: 'start' | 'inside' | 'after' | 'outside';
  held: string;
}

export interface Split {
  content: string;
  reasoning: string;
}

const OPEN = '<think>';
const CLOSE = '</think>';

/**
 * Whether a text may open with its reasoning: where the wire is known for it, unless the client has
 * asked for the text as the model wrote it, in Groq's words.
 */
export function hasThinkTags(call: ChatCall, wire: Provider['wire']): boolean {
  return wire['think_tags'] === true && call.fields['reasoning_format'] !== 'raw';
}

export function newThink(): Think {
  return { phase: 'start', held: '' };
}

/**
 * Takes the next fragment of a text and answers what of it is content and what is reasoning, which
 * stands at the very beginning between `<think>` and `</think>`. A tag may be split anywhere; with
 * `isLast` nothing is held back.
 */
export function splitThink(think: Think, fragment: string, isLast: boolean): Split {
  let rest = think.held + fragment;
  think.held = '';
  let reasoning = '';
  if (think.phase === 'start') {
    const begun = rest.trimStart();
    if (begun.startsWith(OPEN)) {
      think.phase = 'inside';
      rest = begun.slice(OPEN.length);
    } else if (OPEN.startsWith(begun) && !isLast) {
      think.held = rest;
      return { content: '', reasoning };
    } else think.phase = 'outside';
  }
  if (think.phase === 'inside') {
    const end = rest.indexOf(CLOSE);
    if (end === -1) {
      const keep = isLast ? 0 : tailThatMayBe(CLOSE, rest);
      think.held = rest.slice(rest.length - keep);
      return { content: '', reasoning: rest.slice(0, rest.length - keep) };
    }
    reasoning = rest.slice(0, end);
    rest = rest.slice(end + CLOSE.length);
    think.phase = 'after';
  }
  if (think.phase === 'after') {
    rest = rest.trimStart();
    if (rest !== '') think.phase = 'outside';
  }
  return { content: rest, reasoning };
}

/** How many characters at the end of a text could be the beginning of the tag. */
function tailThatMayBe(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
