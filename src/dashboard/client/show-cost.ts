import { costOf } from './gateway.js';
import type { Turn } from './turns.js';

const NANO_DIGITS = 9;

let spent_nano = 0n;

/** Shows the details and the cost of a call under its answer, and adds it to the page’s sum. */
export async function showCost(
  turn: Turn,
  reference: string,
  details: readonly string[],
): Promise<void> {
  const cost = await costOf(reference).catch(() => undefined);
  turn.bill([...details, cost === undefined ? 'not charged' : `$${cost}`].join(' · '));
  if (cost === undefined) return;
  spent_nano += nanoOf(cost);
  const total = document.querySelector('#total');
  if (total) total.textContent = `$${dollarsOf(spent_nano)} spent on this page.`;
}

function nanoOf(dollars: string): bigint {
  const [whole = '0', fraction = ''] = dollars.split('.');
  return BigInt(whole + fraction.padEnd(NANO_DIGITS, '0'));
}

function dollarsOf(nano: bigint): string {
  const digits = String(nano).padStart(NANO_DIGITS + 1, '0');
  const fraction = digits.slice(-NANO_DIGITS).replace(/0{1,7}$/u, '');
  return `${digits.slice(0, -NANO_DIGITS)}.${fraction}`;
}
