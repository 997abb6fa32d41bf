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
  if (host !== undefined && port <= 65_535) return { host, port };
  const message = `${key}: ${source.word(pointer)} is not an address and port`;
  const isOpen = host === undefined && !source.hides(pointer);
  const known = isOpen ? completed(text, example.port) : undefined;
  const such = `such as ${example.host}:${example.port}`;
  let hint = known === undefined ? such : `did you mean "${known}"?`;
  if (host !== undefined) hint = 'a port is a number from 0 to 65535';
  source.fault(pointer, { code: 'bad_listen', message, hint });
  return example;
}

/** A port without a host, or a host without a port, gets the other half. */
function completed(text: string, default_port: number): string | undefined {
  const port = /^:?(\d+)$/.exec(text)?.[1];
  if (port !== undefined) return `127.0.0.1:${port}`;
  return /^[A-Za-z0-9.-]+$/.test(text) ? `${text}:${default_port}` : undefined;
}
