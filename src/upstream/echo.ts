import { MESSAGE_CHARACTERS } from '../core/request-record.js';
import type { WireRequest } from '../core/provider.js';
import { parseCounted } from '../lib/json-text.js';

/** Searching a larger body would block other requests. */
const MAX_SENT_CHARACTERS = 256 * 1024;
const WORD = /[\p{L}\p{N}_]+/gu;
/** Words too short to tell anything about a customer. */
const SHORT = /^[a-z\d]{1,2}$/u;
const HIDDEN = '…';
const HIDDEN_WORDS = /…(?:[^\p{L}\p{N}…]*…)+/gu;

/** Usual words of errors, and names of fields. They may be kept although a prompt has them too. */
const USUAL_WORDS = `
  about above after all allowed also and another any are argument array assistant audio
  available base64 because been before below between blocked body boolean both but can cannot
  character characters choice choices completion contain contains content context could count
  data decode deprecated developer did does duplicate each either empty encoding equal error
  errors exceed exceeded exceeds expected failed field fields file files filter flagged follow
  followed following for format found from function functions given greater has have header
  however http https image images incorrect input inputs instead integer invalid its json key
  length less limit list long malformed max max_completion_tokens max_tokens maximum message
  messages min minimum missing model models more most must name names negative next not null
  number object one only options other output param parameter parameters parse please policy
  positive presence previous prompt property provide provided range read received reduce refused
  rejected request requests required response response_format result results role safety same
  schema see seed set should size small stop stream string strings supplied support supported
  supports system temperature text than that the their then there these this those token tokens
  too tool tool_call tool_calls tool_choice tools top_p two type types unable unexpected unknown
  unprocessable unrecognized unsupported url use used user using valid validation value values
  was were when which while with within without you your
`;
const USUAL = new Set(USUAL_WORDS.trim().split(/\s+/u));

/**
 * The part of an upstream's message that a record may keep: its first line, with `…` in place of
 * words that the request has too, except the usual words of errors. Undefined if the request cannot
 * be searched, or if no word is left.
 */
export function withoutEcho(message: string, sent: WireRequest['body']): string | undefined {
  if (sent === undefined || sent.length > MAX_SENT_CHARACTERS) return undefined;
  const written = typeof sent === 'string' ? sent : rewritten(sent);
  if (written === undefined) return undefined;
  const sent_text = folded(written);
  // An object in a message is a part of the request, or output of the model.
  const [line = ''] = message.trim().split(/[\n\r{]/u, 1);
  const kept = line
    .normalize('NFC')
    .slice(0, MESSAGE_CHARACTERS)
    .replaceAll(WORD, (word) => (isEcho(folded(word), sent_text) ? HIDDEN : word))
    .replaceAll(HIDDEN_WORDS, HIDDEN)
    .trim();
  return /[\p{L}\p{N}]/u.test(kept) ? kept : undefined;
}

/** JSON without the escapes of its client, in which words can be found; undefined if not JSON. */
function rewritten(sent: Uint8Array): string | undefined {
  const value = parseCounted(Buffer.from(sent).toString('utf8'));
  return value === undefined ? undefined : JSON.stringify(value);
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

function isEcho(word: string, sent_text: string): boolean {
  return !USUAL.has(word) && !SHORT.test(word) && sent_text.includes(word);
}
