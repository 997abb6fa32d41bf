import type { FindMoved, MovedTaker } from '../../../lib/source-texts.js';
import { recordsIn, isRecord } from '../../../lib/objects.js';

type Holder = Readonly<Record<string, unknown>>;

/** The texts of all messages but the assistant's, which codecs take apart. */
export const movedInChat: FindMoved = (body, moved) => {
  if (isRecord(body)) noteMessages(body.messages, moved);
};

/** Those of the instructions, of users and of tools' results. */
export const movedInMessages: FindMoved = (body, moved) => {
  if (!isRecord(body)) return;
  noteContent(body, 'system', moved);
  noteMessages(body.messages, moved);
  for (const { role, content } of recordsIn(body.messages)) {
    if (role !== 'user') continue;
    const results = recordsIn(content).filter(({ type }) => type === 'tool_result');
    for (const result of results) noteContent(result, 'content', moved);
  }
};

/** Those of items; the answer repeats the instructions. */
export const movedInResponses: FindMoved = (body, moved) => {
  if (!isRecord(body)) return;
  noteMessages(body.input, moved);
  const results = recordsIn(body.input).filter(({ type }) => type === 'function_call_output');
  for (const result of results) noteContent(result, 'output', moved);
};

function noteMessages(messages: unknown, moved: MovedTaker): void {
  for (const message of recordsIn(messages)) {
    const { type = 'message', role } = message;
    if (type === 'message' && typeof role === 'string' && role !== 'assistant') {
      noteContent(message, 'content', moved);
    }
  }
}

const TEXT_TYPES: ReadonlySet<unknown> = new Set(['text', 'input_text']);

/** A content is a text, or has parts with texts. */
function noteContent(holder: Holder, field: string, moved: MovedTaker): void {
  moved.add(holder, field);
  for (const part of recordsIn(holder[field]))
    if (TEXT_TYPES.has(part.type)) moved.add(part, 'text');
}
