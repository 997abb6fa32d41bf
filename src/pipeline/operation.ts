import type { Capability } from '../core/model.js';
import type { Provider, ProviderOperation } from '../core/provider.js';
import { memoizeByObject } from '../lib/objects.js';
import type { DefaultEndpoint, Operation } from './modality.js';

/** An operation of a provider whose codec has the type that its modality wants. */
export type OperationWith<Codec> = ProviderOperation & { readonly codec: Codec };

/**
 * Returns a function that finds a provider's operation for a modality, and checks its codec once.
 * It throws an `Error` where there is none, which a valid configuration excludes.
 */
export function operationReader<Codec>(
  modality: Capability,
  isCodec: (value: unknown) => value is Codec,
): (provider: Provider) => OperationWith<Codec> {
  return memoizeByObject(({ name, operations }: Provider): OperationWith<Codec> => {
    const operation = operations.get(modality);
    if (!operation || !isCodec(operation.codec)) throw new Error(`${name} serves no ${modality}.`);
    return { ...operation, codec: operation.codec };
  });
}

/**
 * An endpoint at `at` (method and path) that holds money, calls the modality and charges the
 * answer.
 */
export function spendingEndpoint(
  name: string,
  at: string,
  { modality, format, also }: { modality: string; format: string } & Pick<DefaultEndpoint, 'also'>,
): DefaultEndpoint {
  const stages = [
    'auth',
    { validate: format },
    { route: { capability: modality } },
    'limit',
    'balance',
    { transform: modality },
    'meter',
  ];
  return { name, at, stages, ...(also && { also }) };
}

/** The operation of `transform` that sends the work of a modality, and whose answer is charged. */
export function spendingOperation(modality: string, format: string): Operation {
  const needs = ['caller', 'model', `work:${modality}`] as const;
  return { name: modality, format, shape: { needs, gives: ['answer'], money: 'spends' } };
}
