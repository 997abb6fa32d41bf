import { parseNetwork } from '../lib/cidr.js';
import { label } from '../yaml/schema-errors.js';
import { pointer as join, type Source } from '../yaml/source.js';

/** Reads a list of networks. An entry that is not a network is a fault. */
export function readNetworks(
  source: Source,
  pointer: string,
  texts: readonly (string | undefined)[],
): string[] {
  return texts.flatMap((text, i) => {
    if (text === undefined) return [];
    if (parseNetwork(text)) return [text];
    const place = pointer + join(i);
    const message = `${label(pointer)}: ${source.word(place)} is not a network`;
    const hint = 'such as 127.0.0.1, 10.0.0.0/8 or 2001:db8::/32';
    source.fault(place, { code: 'bad_network', message, hint });
    return [];
  });
}
