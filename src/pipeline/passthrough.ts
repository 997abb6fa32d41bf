import { headerSafe } from '../http/ignored-header.js';
import { checkAddresses } from '../upstream/client-url.js';

/** The fields of a body that go to the upstream unchanged, and the names of those that do not. */
export interface PassthroughFields {
  fields: Record<string, unknown>;
  /** Safe for the header `tollgate-ignored`. */
  ignored: string[];
}

/**
 * Splits the fields of a body that the gateway does not read itself. `own` are the fields that it
 * reads. Throws `GatewayError` for a URL that is not public.
 */
export function passthroughFields(
  body: object,
  own: ReadonlySet<string>,
  isSent: (name: string) => boolean,
): PassthroughFields {
  const others = Object.entries(body).filter(([name]) => !own.has(name));
  const sent = others.filter(([name]) => isSent(name));
  for (const [name, value] of sent) checkAddresses(value, name);
  const ignored = others.filter(([name]) => !isSent(name)).map(([name]) => headerSafe(name));
  return { fields: Object.fromEntries(sent), ignored: [...new Set(ignored)] };
}
