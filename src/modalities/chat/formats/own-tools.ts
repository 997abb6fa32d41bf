import { GatewayError } from '../../../core/errors.js';
import { publicName, type Model } from '../../../core/model.js';
import { toolPriceName } from '../../../core/server-tools.js';
import { headerSafe } from '../../../http/ignored-header.js';
import { isRecord } from '../../../lib/objects.js';
import type { ChatCompletionBody, ToolEntry } from '../../../schema-types/chat-completion.js';

/** The most characters of a client's value that an error repeats. */
const SHOWN_CHARACTERS = 64;

/**
 * The body of any format without the tools that the model neither lists by type nor has a price
 * for. An upstream runs such a tool itself and charges for it beside the tokens, so it is never
 * sent unpriced. Agents offer some in every request, so it is left out and named. Throws
 * `GatewayError` if the client demands one.
 */
export function withoutOwnTools(
  body: ChatCompletionBody,
  model: Model,
  ignored: Set<string>,
): ChatCompletionBody {
  const { tools, tool_choice: choice } = body;
  const isTaken = ({ type }: ToolEntry): boolean =>
    type === 'function' ||
    model.tool_types?.has(type) === true ||
    model.upstreams.some(({ price }) => price.per_tool_call?.has(toolPriceName(type)));
  if (!tools || tools.every(isTaken)) return body;
  const kept = tools.filter(isTaken);
  const left = tools.filter((tool) => !isTaken(tool));
  for (const { type } of left) ignored.add(`tools[].${headerSafe(type)}`);
  const demanded = isRecord(choice) ? namesOfTool(choice) : [];
  const isCalled = (tool: ToolEntry): boolean =>
    namesOfTool(tool).some((name) => demanded.includes(name));
  if (left.some(isCalled) && !kept.some(isCalled)) refuseChoice(demanded, model);
  return { ...body, tools: kept };
}

/** The type of a tool or of a choice, and the name: Anthropic's choices have the name alone. */
export function namesOfTool(tool: object): string[] {
  const { type, name, function: called } = tool as Record<string, unknown>;
  const names = type === 'function' && isRecord(called) ? [called.name] : [type, name];
  return names.filter((one) => typeof one === 'string');
}

function refuseChoice([name = '']: readonly string[], model: Model): never {
  const shown = JSON.stringify(name.slice(0, SHOWN_CHARACTERS));
  const message =
    `tool_choice demands ${shown}, a tool that an upstream runs itself: ` +
    `${publicName(model)} does not take it.`;
  throw new GatewayError('unsupported_capability', message, { param: 'tool_choice' });
}
