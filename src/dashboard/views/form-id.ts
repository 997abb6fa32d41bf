import { createHash } from 'node:crypto';

/**
 * The ID of the key or token that a form makes, from the form's one-time token: the same form sent
 * twice asks for the same ID, at whichever gateway. Undefined for a form without a valid token.
 */
export function formId(
  prefix: 'key_' | 'mgt_',
  account_id: string,
  form_token: string,
): string | undefined {
  if (!/^[\w-]{22}$/u.test(form_token)) return undefined;
  const digest = createHash('sha256').update(`${account_id} ${form_token}`).digest('base64');
  return prefix + digest.replaceAll(/[^0-9A-Za-z]/gu, '').slice(0, 16);
}
