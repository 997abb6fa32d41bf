import { GatewayError } from '../../core/errors.js';

/** The maximum length of the name of an account, a key or a token. */
export const NAME_CHARACTERS = 100;

/** The error (400) of an invalid field or parameter. */
export function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

/** A name without the spaces around it. Throws `GatewayError` (400) if it is empty or too long. */
export function readName(text: string): string {
  const name = text.trim();
  if (name === '') throw invalid('name', 'name must not be empty.');
  if (Array.from(name).length <= NAME_CHARACTERS) return name;
  throw invalid('name', `name must have at most ${NAME_CHARACTERS} characters.`);
}
