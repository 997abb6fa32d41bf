import { userInfo } from 'node:os';
import type { Actor } from '../core/actor.js';

/** The command line as the audit log names it: with the login name, if the system knows one. */
export function cliActor(): Actor {
  return { kind: 'cli', id: loginName(), name: null, request_id: null };
}

/** In a container, the user may have no name. */
function loginName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
