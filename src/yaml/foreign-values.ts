const PART_OF_CHAT = 'chat includes it: remove this word';

/** Values of other programs that are left out here, each with its hint. */
const VALUES: Readonly<Record<string, string>> = {
  streaming: PART_OF_CHAT,
  stream: PART_OF_CHAT,
  reasoning: PART_OF_CHAT,
  thinking: PART_OF_CHAT,
  json: PART_OF_CHAT,
  json_mode: PART_OF_CHAT,
  structured_output: PART_OF_CHAT,
  structured_outputs: PART_OF_CHAT,
  logprobs: PART_OF_CHAT,
  google: 'remove kind, and write issuer: https://accounts.google.com',
  gitlab: 'remove kind, and write issuer: https://gitlab.com',
  ssn: "remove it, and write also: ['[0-9]{3}-[0-9]{2}-[0-9]{4}']",
  rerank: 'there is no such work here: remove this word',
  realtime: 'there is no such work here: remove this word',
};

/** The hint for a value of another program; undefined for a value of none. */
export function foreignValueHint(value: string): string | undefined {
  const plain = value.toLowerCase().replaceAll('-', '_');
  return Object.hasOwn(VALUES, plain) ? VALUES[plain] : undefined;
}
