import { UsageError } from './command.js';

export interface Address {
  host: string;
  port: number;
}

/** `host:port`, `:port` or `[::1]:port`. Throws `UsageError` for anything else. */
export function listenAddress(text: string): Address {
  const found = /^(?:\[([0-9a-f:.]+)\]|([^:\s]*)):(\d{1,5})$/iu.exec(text);
  const port = Number(found?.[3]);
  if (!found || port > 65_535) {
    throw new UsageError(`"${text}" is not an address such as 127.0.0.1:8080`);
  }
  return { host: found[1] ?? (found[2] || '0.0.0.0'), port };
}

/** Whether a host means all interfaces of the machine. */
export function isWildcard({ host }: Pick<Address, 'host'>): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** Formats an address: `127.0.0.1:8080`, `[::1]:8080`. */
export function written({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else listens there already',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'this machine has no such address',
  EACCES: 'this user is not allowed to',
};

/** Describes why a server cannot listen at an address. */
export function listenFault(error: unknown, address: Address, setting = '--listen'): UsageError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = REASONS[code] ?? (code || 'unknown fault');
  return new UsageError(
    `cannot listen on ${written(address)}: ${reason} (another address: ${setting})`,
  );
}
