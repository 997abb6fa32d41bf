import { isRecord } from '../../src/lib/is-record.js';
import type { ReasoningDetail } from '../../src/modalities/chat/codec.js';
import type { ChatMessage, ToolCallPart } from '../../src/schema-types/chat-completion.js';
import { signatureOf } from '../../src/lib/tool-id.js';
import { recordsIn } from './answer.js';

/** Whose form of a reasoning detail holds a signature of Gemini's. */
const FORMAT = 'google-gemini-v1';
/** What Gemini 3 takes in place of a signature for a call that another model has made. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** The thought signature that stands beside a tool call, a message or a delta. */
export function signatureIn(said: Record<string, unknown>): string | undefined {
  const extra = said['extra_content'];
  if (!isRecord(extra)) return undefined;
  // The same endpoint of Vertex AI says `vertex`.
  const [google] = recordsIn([extra['google'], extra['vertex']]);
  const signature = google?.['thought_signature'];
  return typeof signature === 'string' && signature !== '' ? signature : undefined;
}

/** The signature of an answer's text, in the form in which a client brings it back. */
export function signatureDetail(said: Record<string, unknown>): ReasoningDetail[] {
  const data = signatureIn(said);
  return data === undefined ? [] : [{ type: 'reasoning.encrypted', data, format: FORMAT }];
}

/**
 * Puts the signatures that travelled in ids and details where Google's endpoint reads them. `sent`
 * is the message as it goes out otherwise.
 */
export function withSignatures(
  sent: { tool_calls?: ToolCallPart[] },
  message: ChatMessage,
  model: string,
): object {
  const details = recordsIn(message.reasoning_details);
  const own = details.find(({ format, data }) => format === FORMAT && typeof data === 'string');
  const signatures = message.tool_calls?.map(({ id }) => signatureOf(id)) ?? [];
  const isForeign = signatures.every((signature) => signature === undefined);
  const calls = sent.tool_calls?.map((call, at) => {
    const placeholder = isForeign && at === 0 && isGemini3(model) ? NO_SIGNATURE : undefined;
    return { ...call, ...extraContent(signatures[at] ?? placeholder) };
  });
  return {
    ...sent,
    ...(calls ? { tool_calls: calls } : extraContent(own?.['data'])),
  };
}

function extraContent(thought_signature: unknown): object {
  return thought_signature === undefined
    ? {}
    : { extra_content: { google: { thought_signature } } };
}

/** Gemini 3 and later refuse a call in the history that has no signature; older ones have none. */
function isGemini3(model: string): boolean {
  return /\bgemini-(?:[3-9]|\d\d)/u.test(model);
}
