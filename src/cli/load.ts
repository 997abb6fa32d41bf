import { checkOrThrow, type ValidCheck } from '../gateway/gateway.js';
import type { Configuration } from '../core/configuration.js';
import { isWildcard, listenAddress, written, type Address } from './listen.js';
import { environmentOf } from './environment.js';

export interface ServeOptions {
  config: string;
  listen?: string;
  json?: boolean;
}

/**
 * The checked configuration; `--listen` replaces the address of the file, also in a `public_url`
 * that the file does not say.
 */
export async function load({ config, listen }: ServeOptions): Promise<ValidCheck> {
  const address = listen === undefined ? undefined : listenAddress(listen);
  const checked = await checkOrThrow(config, environmentOf(config));
  if (!address) return checked;
  return { ...checked, configuration: at(address, checked.configuration) };
}

function at(address: Address, configuration: Configuration): Configuration {
  const moved = { ...configuration, listen: address };
  if (!configuration.is_public_url_default) return moved;
  // A browser cannot open the address of all interfaces.
  const host = isWildcard(address) ? configuration.listen.host : address.host;
  return { ...moved, public_url: `http://${written({ host, port: address.port })}` };
}
