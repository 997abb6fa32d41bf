import type { Context } from '../pipeline/stage.js';

/** The model's ID in the path, decoded. */
export function modelIn(ctx: Context): string {
  return paramIn(ctx, 'model');
}

/** A parameter of the path, decoded; empty where the endpoint has none of that name. */
export function paramIn(ctx: Context, name: string): string {
  const { params } = ctx as { params?: Record<string, string | undefined> };
  return params?.[name] ?? '';
}
