import { isRecord, recordsIn } from '../../../lib/objects.js';
import type { HostedPart } from '../codec.js';

type Part = Readonly<Record<string, unknown>>;

const SEARCH = 'web_search';
const SEARCH_ITEM = 'web_search_call';

/** Begins the IDs of blocks that Claude has not made, and could not read. */
const OWN_ID = 'srvtoolu_tg_';

/** Whether a block stands for the search of an upstream with another API. */
export function isMadeHere({ id, tool_use_id }: { id?: unknown; tool_use_id?: unknown }): boolean {
  return [id, tool_use_id].some((one) => textOfField(one).startsWith(OWN_ID));
}

/** The blocks of the Messages API for what an upstream's own tool has done, if it has any. */
export function hostedBlocks({ api, part }: HostedPart): Part[] {
  if (api === 'messages') return [part];
  const { type, id, action } = part;
  if (type !== SEARCH_ITEM || !isRecord(action) || action.type !== 'search') return [];
  const tool_use_id = `${OWN_ID}${textOfField(id).replaceAll(/\W/gu, '')}`;
  const found = recordsIn(action.sources).flatMap(({ url, title }) =>
    typeof url === 'string'
      ? [
          {
            type: 'web_search_result',
            url,
            title: textOfField(title) || url,
            encrypted_content: '',
            page_age: null,
          },
        ]
      : [],
  );
  const input = { query: queryOf(action) };
  return [
    { type: 'server_tool_use', id: tool_use_id, name: SEARCH, input },
    { type: 'web_search_tool_result', tool_use_id, content: found },
  ];
}

/** The item of the Responses API for the same; undefined if it has none. */
export function hostedItem({ api, part }: HostedPart, id: string): Part | undefined {
  if (api === 'responses') return part;
  const { type, name, input } = part;
  if (type !== 'server_tool_use' || name !== SEARCH) return undefined;
  const query = queryOf(isRecord(input) ? input : {});
  return { id, type: SEARCH_ITEM, status: 'completed', action: { type: 'search', query } };
}

function queryOf({ query, queries }: Part): string {
  const [first]: unknown[] = Array.isArray(queries) ? queries : [];
  return textOfField(query) || textOfField(first);
}

function textOfField(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
