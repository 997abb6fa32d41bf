/** True where an address is let in: itself, its domain (`@example.org`), or everybody (`*`). */
export function isAllowed(email: string, allow: readonly string[]): boolean {
  const lower = email.toLowerCase();
  const domain = lower.slice(lower.lastIndexOf('@'));
  return allow.some((entry) => entry === '*' || entry === lower || entry === domain);
}
