import { codeOf } from './retry.js';

/** A refusal of the store. Its message is written for operators. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** The store was waited for when the process was to end. */
export class WaitEnded extends StoreError {
  override name = 'WaitEnded';
}

/** The account has as many active keys as it may have. */
export class TooManyKeys extends StoreError {
  override name = 'TooManyKeys';
}

/** A key or a token was to be created with an ID that another one has. */
export class IdTaken extends StoreError {
  override name = 'IdTaken';
  constructor(readonly id: string) {
    super(`There is ${id} already.`);
  }
}

/** A key was to be created, or rotated, for a suspended account. */
export class AccountSuspended extends StoreError {
  override name = 'AccountSuspended';
  constructor(what: 'key' | 'secret') {
    super(`The account is suspended: it gets no new ${what} until it is resumed.`);
  }
}

/** The ledger has no charge of that request. */
export class NoCharge extends StoreError {
  override name = 'NoCharge';
  constructor(request_id: string) {
    super(`There is no charge of the request "${request_id}".`);
  }
}

/**
 * PostgreSQL refuses connections, has ended them, or does not answer; or the file of SQLite, or its
 * disk, takes no write. Whether the statement was done is not known. Its message is for operators.
 */
export class StoreUnreachable extends Error {
  override name = 'StoreUnreachable';
  constructor(cause: unknown, message = reason(cause)) {
    super(message, { cause });
  }
}

export function noAccount(account_id: string): StoreError {
  return new StoreError(`There is no account ${account_id}.`);
}

/** Runs `work`, which opens a store, and turns its errors into one sentence. */
export async function explainOpenError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError(`The store cannot be opened: ${reason(error)}`, { cause: error });
  }
}

function reason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/**
 * Whether the store refused the operation, and would refuse it again. Any other error is a fault of
 * the store itself, after which a retry may succeed.
 */
export function isRefused(error: unknown): boolean {
  return error instanceof StoreError || /^(SQLITE_CONSTRAINT|2[23])/u.test(codeOf(error));
}
