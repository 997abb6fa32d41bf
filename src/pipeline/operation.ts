import type { Capability, Upstream } from '../core/model.js';
import type { Provider, ProviderOperation } from '../core/provider.js';
import { memoizeByObject } from '../lib/memoize-by-object.js';

/** An operation of a provider whose codec has the type that its modality wants. */
export type OperationWith<Codec> = ProviderOperation & { readonly codec: Codec };

/**
 * Returns a function that finds an upstream's operation for a modality, and checks its codec once.
 * It throws an `Error` where there is none, which a valid configuration excludes.
 */
export function operationReader<Codec>(
  modality: Capability,
  isCodec: (value: unknown) => value is Codec,
): (upstream: Pick<Upstream, 'provider'>) => OperationWith<Codec> {
  const read = memoizeByObject(({ name, operations }: Provider): OperationWith<Codec> => {
    const operation = operations.get(modality);
    if (!operation || !isCodec(operation.codec)) throw new Error(`${name} serves no ${modality}.`);
    return { ...operation, codec: operation.codec };
  });
  return ({ provider }) => read(provider);
}
