/** The date of a tool's version, or that it is a preview, at the end of its type. */
const VERSION = /(?:_preview|_retrieval)?(?:_\d{8}|_\d{4}_\d{2}_\d{2})?$/u;

/** Tools whose price has a shorter name. */
const SHORTER: ReadonlyMap<string, string> = new Map([['google_maps', 'maps']]);

/**
 * The name under which `per_tool_call` has a tool that an upstream runs itself, by the tool's type:
 * `web_search` for `web_search_20250305` and for `web_search_preview`.
 */
export function toolPriceName(type: string): string {
  const name = type.slice(type.indexOf(':') + 1).replace(VERSION, '');
  return SHORTER.get(name) ?? name;
}

/** How often a tool may run in an answer: as often as its `max_uses` says, at most `most`. */
export function usesOfTool({ max_uses }: { max_uses?: unknown }, most: number): number {
  const uses = Number.isSafeInteger(max_uses) ? Number(max_uses) : most;
  return uses < 0 ? most : Math.min(uses, most);
}
