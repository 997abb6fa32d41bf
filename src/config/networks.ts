import { parseNetwork } from '../lib/cidr.js';
import { pointer as join, type Source, label } from '../yaml/source.js';

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
    const near = source.hides(place) ? undefined : meantNetwork(text);
    const such = 'such as 127.0.0.1, 10.0.0.0/8 or 2001:db8::/32';
    const isName = /^[a-z][\w.-]*$/i.test(text);
    const way = isName ? `a name does not count: write its address, ${such}` : such;
    const hint = near === undefined ? way : `did you mean "${near}"?`;
    source.fault(place, { code: 'bad_network', message, hint });
    return [];
  });
}

/** The network that a name, a mask in dots or a prefix that is too long most likely means. */
function meantNetwork(text: string): string | undefined {
  if (text === 'localhost') return '127.0.0.1/32';
  const [, host] = /^([\d.]+):\d+$/.exec(text) ?? [];
  if (host !== undefined && parseNetwork(`${host}/32`)) return `${host}/32`;
  const [, address = '', mask = ''] = /^([\d.]+)\/([\d.]+)$/.exec(text) ?? [];
  const bits = mask
    .split('.')
    .map((byte) => Number(byte).toString(2).padStart(8, '0'))
    .join('');
  const length = mask.includes('.') ? bits.replace(/0+$/, '').length : 32;
  const network = `${address}/${length}`;
  return parseNetwork(network) ? network : undefined;
}
