/** The text of a tool result whose images or files follow in a message of their own. */
export const RESULT_FOLLOWS = 'The result follows.';

/** The text before the images or files of a tool result. */
export function resultHeading(tool_call_id: string): string {
  return `The result of the tool call ${tool_call_id}:`;
}
