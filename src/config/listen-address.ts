import type { Source } from '../yaml/source.js';

export interface ListenAddress {
  host: string;
  port: number;
}

/** Reads an address to listen on, such as `127.0.0.1:8080`. A fault is reported at `/key`. */
export function readListen(
  source: Source,
  key: 'listen' | 'metrics',
  address: string | number,
  example: ListenAddress,
): ListenAddress {
  const text = String(address);
  const pointer = `/${key}`;
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  if (host !== undefined && port <= 65_535 && !/^\d+$/.test(host)) return { host, port };
  const message = `${key}: ${source.word(pointer)} is not an address and port`;
  const isOpen = !source.hides(pointer);
  const known = isOpen ? completed(text, example.port) : undefined;
  const isSocket = text.startsWith('unix:') || text.endsWith('.sock');
  const address_of_example = `${example.host}:${example.port}`;
  const such = isSocket
    ? `a socket file will not do: write ${address_of_example}`
    : `such as ${address_of_example}`;
  let hint = known === undefined ? such : `did you mean "${known}"?`;
  if (/^https?:\/\/[^/:]*[a-z][^/:]*\.[^/]+/i.test(text) && isOpen) {
    hint = `that is a public_url: write ${address_of_example}, and public_url: ${text}`;
  }
  if (port > 65_535) {
    const near = source.hides(pointer) ? '' : `: did you mean "${text.slice(0, -1)}"?`;
    hint = `a port is a number from 0 to 65535${near}`;
  }
  source.fault(pointer, { code: 'bad_listen', message, hint });
  return example;
}

/** A port without a host, a host without a port, a URL, or the pair of ports of a container. */
function completed(text: string, default_port: number): string | undefined {
  const bare = text
    .replace(/^https?:\/\//i, '')
    .replace(/\/$/, '')
    .replace(/^\*(?=:)/, '0.0.0.0');
  const port = /^:?(\d+)$/.exec(bare)?.[1] ?? /^\d+:(\d+)$/.exec(bare)?.[1];
  if (port !== undefined) return `127.0.0.1:${port}`;
  const [, six, six_port] = /^((?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}):(\d{2,5})$/i.exec(bare) ?? [];
  if (six !== undefined) return `[${six}]:${six_port}`;
  if (bare !== text && /^[\w.-]+:\d{1,5}$/.test(bare)) return bare;
  return /^[A-Za-z0-9.-]+$/.test(bare) ? `${bare}:${default_port}` : undefined;
}
