import { fileURLToPath } from 'node:url';
import { check } from '../../../src/gateway/check.js';
import type { Configuration } from '../../../src/core/configuration.js';
import type { ConfigFault } from '../../../src/core/config-fault.js';

/** The folder of configuration files, with a closing slash. */
export const FIXTURES = fileURLToPath(new URL('../../fixtures/config/', import.meta.url));

/** The environment that those files are read in. */
export const ENV = {
  SECRET: 'S3cr3t-Value-9',
  HASHED: 'a#b/c',
  EMPTY: '',
  SHORT: 'short',
  BASE_URL: 'https://expanded.example.com/v1',
  PORT: '8099',
  WEIGHT: '3',
  PRICE: '0.250',
  OPENAI_API_KEY: 'k',
  // Keys of no one, with the beginnings of those of providers.
  SK_ANT: 'sk-ant-0123456789abcdef',
  AIZA: 'AIza0123456789abcdefghijklmnopqrstuvwxy',
  GSK_VALUE: 'gsk_0123456789abcdef01',
  AWS_SECRET: 'a0123456789/0123456789/0123456789/012345',
  SIGNER_KEY_ID: 'AKIA0123456789ABCDEF',
  SIGNER_SECRET_KEY: 'a0123456789/0123456789/0123456789/012345',
  // Each has the value of the other.
  TURNED_KEY_ID: 'a0123456789/0123456789/0123456789/012345',
  TURNED_SECRET_KEY: 'AKIA0123456789ABCDEF',
};

/** The faults of a file, with the warnings of all rules where it has no error. */
export async function faultsOf(
  file: string,
  env: NodeJS.ProcessEnv | undefined,
): Promise<{ faults: ConfigFault[]; configuration: Configuration | undefined }> {
  const { faults, configuration } = await check(file, env);
  return { faults, configuration };
}
