import type { Configuration } from '../core/configuration.js';
import type { Model } from '../core/model.js';
import type { Preview, PreviewedRequest } from '../gateway/preview.js';
import { isRecord } from '../lib/objects.js';
import { UsageError } from './command.js';
import { printLine } from './print.js';
import { readText } from './text-file.js';

const MAX_MB = 64;

/** Reads a body: `argument` is JSON, or the name of a file of JSON. Throws `UsageError`. */
export function readBody(argument: string): Record<string, unknown> {
  const isJson = argument.trimStart().startsWith('{');
  let body: unknown;
  try {
    body = JSON.parse(isJson ? argument : readText(argument, MAX_MB));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${isJson ? '--body' : argument} is not JSON`);
  }
  if (!isRecord(body))
    throw new UsageError('--body must be a JSON object, or a file that holds one');
  return body;
}

/**
 * Computes the requests to each upstream. Throws `UsageError` if the gateway would refuse the body.
 */
export async function previewBody(
  body: Record<string, unknown>,
  model: Model,
  configuration: Configuration,
): Promise<Preview> {
  const { previewRequests } = await import('../gateway/preview.js');
  const { GatewayError } = await import('../core/errors.js');
  try {
    return await previewRequests(body, model, configuration);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new UsageError(`the gateway would refuse this body with ${error.code}: ${error.message}`);
  }
}

export function printPreview({ at, ignored, adjusted, upstreams }: Preview): void {
  printLine(`\nThe body at ${at}`);
  if (ignored.length > 0) printLine(`  left out: ${ignored.join(', ')}`);
  if (adjusted.length > 0) printLine(`  lowered: ${adjusted.join(', ')}`);
  for (const { provider, model, requests, ignored: own, refusal } of upstreams) {
    printLine(`\n  ${provider}: ${model}`);
    if (own.length > 0) printLine(`    left out: ${own.join(', ')}`);
    if (refusal !== null) printLine(`    is not asked: ${refusal}`);
    const texts = requests.map((request) => JSON.stringify(request));
    requests.forEach((request, at) => {
      // The calls for several choices may all be the same.
      if (texts.indexOf(texts[at] ?? '') === at) printRequest(request);
      else printLine('    and the same once more');
    });
  }
}

function printRequest({ method, url, headers, body }: PreviewedRequest): void {
  printLine(`    ${method} ${url ?? '(answered in this process, so nothing leaves)'}`);
  for (const [name, value] of Object.entries(headers)) printLine(`    ${name}: ${value}`);
  if (body === null) return;
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
  printLine(`\n${text.replaceAll(/^/gmu, '    ')}`);
}
