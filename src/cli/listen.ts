import { UsageError } from './command.js';

/** `host:port`, `:port` or `[::1]:port`. Throws `UsageError` for anything else. */
export function listenAddress(text: string): { host: string; port: number } {
  const found = /^(?:\[([0-9a-f:.]+)\]|([^:\s]*)):(\d{1,5})$/iu.exec(text);
  const port = Number(found?.[3]);
  if (!found || port > 65_535) {
    throw new UsageError(`"${text}" is not an address such as 127.0.0.1:8080`);
  }
  return { host: found[1] ?? (found[2] || '0.0.0.0'), port };
}
