import { openDatabase, type Database } from '../../../src/store/database.js';
import {
  writeAllowances,
  type AllowanceChange,
  type AllowanceOwner,
} from '../../../src/store/limits/allowances.js';
import type { Ground } from './ground.js';

/** Changes allowances on a connection of its own, as an operator does while the gateway serves. */
export class Allowances {
  readonly #database: Database;

  constructor(private readonly ground: Ground) {
    this.#database = openDatabase(ground.place.url);
  }

  /** Makes the changes in one transaction. */
  async change(
    changes: readonly [owner_kind: AllowanceOwner, owner_id: string, change: AllowanceChange][],
  ): Promise<void> {
    await this.#database.write(async (trx) => {
      for (const [owner_kind, owner_id, change] of changes) {
        await writeAllowances(trx, { owner_kind, owner_id }, change, this.ground.now_ms);
      }
    });
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
