import { isRecord } from '../../../lib/objects.js';
import type { Need } from '../../../pipeline/modality.js';

type NeededPart = 'vision' | 'audio' | 'tools' | 'file';

const WORDS: Readonly<Record<NeededPart, string>> = {
  vision: 'images',
  audio: 'audio',
  tools: 'tools',
  file: 'files',
};

/** The types of parts, blocks and items of all chat formats that need a capability. */
const TYPES: ReadonlyMap<unknown, NeededPart> = new Map<unknown, NeededPart>([
  ['image_url', 'vision'],
  ['input_image', 'vision'],
  ['image', 'vision'],
  ['input_audio', 'audio'],
  ['file', 'file'],
  ['input_file', 'file'],
  ['document', 'file'],
  ...[
    'tool_use',
    'tool_result',
    'function_call',
    'function_call_output',
    'custom_tool_call',
    'custom_tool_call_output',
  ].map((type) => [type, 'tools'] as const),
]);

/** Fields of a body, a message or a part that are about tools. */
const TOOL_FIELDS = new Set([
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'functions',
  'function_call',
  'toolConfig',
  'tool_calls',
  'functionCall',
  'functionResponse',
]);

/** What a model must take for the field at fault of a body of any chat format. */
export function neededCapabilities(body: unknown, param: string): readonly Need[] {
  const needs: Need[] = [];
  let [value, path] = [body, ''];
  for (const [step, name, index] of param.matchAll(/([^.[\]]+)|\[(\d+)\]/gu)) {
    path += name === undefined || path === '' ? step : `.${name}`;
    value = (value as Record<string, unknown>)[name ?? Number(index)];
    const kind = TOOL_FIELDS.has(name ?? '') ? 'tools' : kindOf(value);
    if (kind) needs.push({ capability: kind, param: path, what: WORDS[kind] });
    if (typeof value !== 'object' || value === null) break;
  }
  return needs;
}

/** The capability that a message, a part, a block or an item needs. */
function kindOf(value: unknown): NeededPart | undefined {
  if (!isRecord(value)) return undefined;
  const { type, role, source, inlineData, fileData } = value;
  if (role === 'tool' || role === 'function') return 'tools';
  if (Object.keys(value).some((name) => isGiven(value[name]) && TOOL_FIELDS.has(name))) {
    return 'tools';
  }
  const media = inlineData ?? fileData;
  if (media !== undefined) return kindOfMedia(isRecord(media) ? media.mimeType : undefined);
  // A document of text needs nothing.
  const isText = isRecord(source) && (source.type === 'text' || source.type === 'content');
  return type === 'document' && isText ? undefined : TYPES.get(type);
}

function isGiven(value: unknown): boolean {
  return value !== null && (!Array.isArray(value) || value.length > 0);
}

function kindOfMedia(type: unknown): NeededPart {
  if (typeof type !== 'string' || type.startsWith('image/')) return 'vision';
  return type.startsWith('audio/') ? 'audio' : 'file';
}
