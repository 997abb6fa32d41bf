import type { DashboardContext, Route } from '../types.js';
import type { Configuration } from '../../core/configuration.js';
import { referenceFile } from './reference.js';
import { sendReference } from './reference-page.js';

/** `/openapi.json`, and `/reference`, which shows it without loading anything from other sites. */
export function documentRoutes(document: () => object, configuration: Configuration): Route[] {
  // Made for the first reader: it would be a fifth of the time of a start.
  let text: string | undefined;
  return [
    {
      method: 'GET',
      path: '/openapi.json',
      access: 'public',
      answer: (ctx) =>
        give(ctx, 'application/json; charset=utf-8', (text ??= JSON.stringify(document()))),
    },
    {
      method: 'GET',
      path: '/reference',
      access: 'optional',
      inline_styles: true,
      answer: (ctx, visitor) => sendReference(ctx, visitor, configuration),
    },
    {
      method: 'GET',
      path: '/reference/:version/:file',
      access: 'public',
      async answer(ctx) {
        const { version = '', file = '' } = ctx.params;
        const { type, bytes } = await referenceFile(version, file);
        ctx.set('cache-control', 'public, max-age=31536000, immutable');
        give(ctx, type, bytes);
      },
    },
  ];
}

function give(ctx: DashboardContext, type: string, body: string | Buffer): void {
  ctx.set('content-type', type);
  ctx.body = body;
}
