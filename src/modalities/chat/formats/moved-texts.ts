import type { FindMoved } from '../../../lib/source-texts.js';
import { recordsIn, isRecord } from '../../../lib/objects.js';

type Note = Parameters<FindMoved>[1];
type Holder = Readonly<Record<string, unknown>>;

/** The texts of all messages but the assistant's, which codecs take apart. */
export const movedInChat: FindMoved = (body, note) => {
  if (isRecord(body)) noteMessages(body.messages, note);
};

/** Those of the instructions, of users and of tools' results. */
export const movedInMessages: FindMoved = (body, note) => {
  if (!isRecord(body)) return;
  noteContent(body, 'system', note);
  noteMessages(body.messages, note);
  for (const { role, content } of recordsIn(body.messages)) {
    if (role !== 'user') continue;
    const results = recordsIn(content).filter(({ type }) => type === 'tool_result');
    for (const result of results) noteContent(result, 'content', note);
  }
};

/** Those of items; the answer repeats the instructions. */
export const movedInResponses: FindMoved = (body, note) => {
  if (!isRecord(body)) return;
  noteMessages(body.input, note);
  const results = recordsIn(body.input).filter(({ type }) => type === 'function_call_output');
  for (const result of results) noteContent(result, 'output', note);
};

function noteMessages(messages: unknown, note: Note): void {
  for (const message of recordsIn(messages)) {
    const { type = 'message', role } = message;
    if (type === 'message' && typeof role === 'string' && role !== 'assistant') {
      noteContent(message, 'content', note);
    }
  }
}

const TEXT_TYPES: ReadonlySet<unknown> = new Set(['text', 'input_text']);

/** A content is a text, or has parts with texts. */
function noteContent(holder: Holder, field: string, note: Note): void {
  note(holder, field);
  for (const part of recordsIn(holder[field])) if (TEXT_TYPES.has(part.type)) note(part, 'text');
}
