/** Whether the allow-list has an address, its domain (`@example.org`), or everybody (`*`). */
export function isAllowed(email: string, allow: readonly string[]): boolean {
  const lower = lowerAddress(email);
  const domain = lower.slice(lower.lastIndexOf('@'));
  return allow.some((entry) => entry === '*' || entry === lower || entry === domain);
}

/**
 * An address as the store compares it: ASCII letters in lower case. Lower case of other letters
 * would make different addresses equal (the Kelvin sign becomes `k`).
 */
export function lowerAddress(address: string): string {
  return address.replaceAll(/[A-Z]+/gu, (letters) => letters.toLowerCase());
}
