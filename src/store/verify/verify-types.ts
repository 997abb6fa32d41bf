/** One sentence for each thing that does not add up; empty when all is well. */
export interface VerifyReport {
  accounts: number;
  entries: number;
  open_holds: number;
  faults: string[];
}
