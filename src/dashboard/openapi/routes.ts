import type { DashboardContext, Route } from '../types.js';
import { referenceFile, referencePage } from './reference.js';

/** `/openapi.json`, and `/docs`, which shows it without loading anything from other sites. */
export function documentRoutes(document: object): Route[] {
  const text = JSON.stringify(document);
  return [
    {
      method: 'GET',
      path: '/openapi.json',
      who: 'all',
      answer: (ctx) => give(ctx, 'application/json; charset=utf-8', text),
    },
    {
      method: 'GET',
      path: '/docs',
      who: 'all',
      inline_styles: true,
      answer: (ctx) => give(ctx, 'text/html; charset=utf-8', referencePage()),
    },
    {
      method: 'GET',
      path: '/docs/:version/:file',
      who: 'all',
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
