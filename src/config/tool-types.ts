import type { ModelEntry } from '../schema-types/gateway.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';

/** Types that `tool_types` cannot list, and the reason. */
const REFUSED: Readonly<Record<string, string>> = {
  function: 'travels without being listed',
  custom: 'travels as a function, without being listed',
};

/** Types of tools that a misspelt one may mean. Providers have others. */
export const TOOL_TYPES: readonly string[] = [
  'code_interpreter',
  'computer_use_preview',
  'file_search',
  'image_generation',
  'web_search',
  'web_search_preview',
];

/** The types of tools, beside functions, that clients of a model may use. */
export function readToolTypes(
  source: Source,
  pointer: string,
  { tool_types: types, capabilities = [] }: PartialLoad<ModelEntry>,
): ReadonlySet<string> | undefined {
  if (!types) return undefined;
  if (!capabilities.includes('tools') && !capabilities.includes(undefined)) {
    const message = 'tool_types is of no use without the capability "tools"';
    source.fault(pointer, { code: 'needs_tools', message, hint: 'add tools', at: 'key' });
  }
  types.forEach((type, i) => {
    if (type !== undefined) checkType(source, pointer + join(i), type);
  });
  return new Set(types.flatMap((type) => type ?? []));
}

function checkType(source: Source, place: string, type: string): void {
  const refused = Object.hasOwn(REFUSED, type) ? REFUSED[type] : undefined;
  if (refused === undefined) return;
  const message = `tool_types: ${quote(type)} ${refused}`;
  source.fault(place, { code: 'bad_tool_type', message, hint: 'remove it' });
}
