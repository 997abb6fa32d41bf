/**
 * Text of an upstream as every database takes it: PostgreSQL refuses a NUL, and a lone surrogate is
 * no UTF-8. Both become the character that stands for what cannot be shown.
 */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}

/** Whether some row could have such an ID: none has a NUL, for which PostgreSQL refuses to look. */
export function isPossible(id: string): boolean {
  return !id.includes('\0');
}
