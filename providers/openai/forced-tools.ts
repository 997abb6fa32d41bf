import { isRecord } from '../../src/lib/objects.js';

/**
 * For models that think unless told otherwise, and must not be forced to call a tool while they do:
 * a call that forces one, and says nothing of thinking, turns thinking off. In a call that wants
 * both, the model is not forced. Returns true if that is so.
 */
export function forceOrThink(body: Record<string, unknown>): boolean {
  const { tool_choice: choice, thinking, reasoning_effort: effort } = body;
  if (choice !== 'required' && !isRecord(choice)) return false;
  if (thinking === undefined && effort === undefined) {
    body.thinking = { type: 'disabled' };
    return false;
  }
  if (isRecord(thinking) && thinking.type === 'disabled') return false;
  delete body.tool_choice;
  return true;
}
