/** Error messages of upstreams for a prompt that is too long, alone or with the output limit. */
const MESSAGES: readonly RegExp[] = [
  // Claude's own messages.
  /exceed context limit: (?<prompt>\d{1,9}) \+ (?<output>\d{1,9}) > (?<most>\d{1,9})/iu,
  /prompt is too long: (?<prompt>\d{1,9}) tokens > (?<most>\d{1,9})/iu,
  // "maximum context length is C tokens. However, you requested T tokens (A in the messages, B in
  // the completion)"
  /length is (?<most>\d{1,9}) .{0,99}\((?<prompt>\d{1,9})\D{0,60}, (?<output>\d{1,9})\D{0,40}com/iu,
  // "maximum context length is C tokens. However, you requested B output tokens and your prompt
  // contains at least A input tokens"
  /length is (?<most>\d{1,9})\D{0,99} (?<output>\d{1,9}) output\D{0,99} (?<prompt>\d{1,9}) input/iu,
  // "maximum context length is C tokens and your request has A input tokens (B > C - A)"
  /length is (?<most>\d{1,9})\D{0,99} has (?<prompt>\d{1,9})\D{0,40}\((?<output>\d{1,9}) >/iu,
  // "maximum context length is C tokens. However, your messages resulted in A tokens"
  /length is (?<most>\d{1,9})\D{0,99} (?:in|has|requested|contains) (?<prompt>\d{1,9})/iu,
  // "input token count (A) exceeds the maximum number of tokens allowed (C)"
  /token count \(?(?<prompt>\d{1,9})\)?\D{0,40}exceeds\D{0,99}(?<most>\d{1,9})/iu,
  // "the request (A tokens) exceeds the available context size (C tokens)"
  /\((?<prompt>\d{1,9}) tokens\)\D{0,40}exceeds\D{0,99}(?<most>\d{1,9})/iu,
  // "Prompt contains A tokens and 0 draft tokens, too large for model with C maximum context …"
  /contains (?<prompt>\d{1,9}) tokens.{0,99} with (?<most>\d{1,9}) maximum/iu,
];

/**
 * The message for a prompt that is too long, in the exact wording that Claude Code recognizes. It
 * then asks for fewer output tokens if those are the reason, else it summarizes its conversation.
 */
export function contextWords(message: string): string {
  const sizes = MESSAGES.map((pattern) => pattern.exec(message)?.groups).find(Boolean);
  if (!sizes) {
    return /prompt is too long/iu.test(message) ? message : `prompt is too long: ${message}`;
  }
  const { prompt = '', output, most = '' } = sizes;
  if (output === undefined || Number(prompt) >= Number(most)) {
    return `prompt is too long: ${prompt} tokens > ${most} maximum`;
  }
  return (
    `input length and \`max_tokens\` exceed context limit: ${prompt} + ${output} > ${most}, ` +
    'decrease input length or `max_tokens` and try again'
  );
}
