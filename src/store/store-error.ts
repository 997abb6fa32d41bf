/** A refusal in words fit for the person at the command line. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** The account has as many active keys as it may have. */
export class TooManyKeys extends StoreError {
  override name = 'TooManyKeys';
}

export function noAccount(account_id: string): StoreError {
  return new StoreError(`There is no account ${account_id}.`);
}
