/** True where an address is let in: itself, its domain (`@example.org`), or everybody (`*`). */
export function isAllowed(email: string, allow: readonly string[]): boolean {
  const lower = lowerAddress(email);
  const domain = lower.slice(lower.lastIndexOf('@'));
  return allow.some((entry) => entry === '*' || entry === lower || entry === domain);
}

/**
 * An address as it is compared and stored: lower case of ASCII alone. Beyond it other letters
 * become the same (the Kelvin sign a `k`), and their owner somebody else.
 */
export function lowerAddress(address: string): string {
  return address.replaceAll(/[A-Z]+/gu, (letters) => letters.toLowerCase());
}
