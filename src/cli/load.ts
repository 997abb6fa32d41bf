import { checkOrThrow, type ValidCheck } from '../gateway/gateway.js';
import { listenAddress } from './listen.js';
import { environmentOf } from './environment.js';

export interface ServeOptions {
  config: string;
  listen?: string;
  json?: boolean;
}

/** The checked configuration; `--listen` replaces the address of the file. */
export async function load({ config, listen }: ServeOptions): Promise<ValidCheck> {
  const address = listen === undefined ? undefined : listenAddress(listen);
  const checked = await checkOrThrow(config, environmentOf(config));
  if (!address) return checked;
  return { ...checked, configuration: { ...checked.configuration, listen: address } };
}
