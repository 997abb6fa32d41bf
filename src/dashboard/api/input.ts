import { readSmallBody, checking } from '../../http/request-body.js';
import { validatorOfShipped } from '../../lib/schemas.js';
import type { DashboardContext } from '../types.js';

const BODY_BYTES = 64 * 1024;

/** Reads bodies that fit `schemas/NAME.schema.json`; refuses others (400, 413). */
export function bodyReader<T>(name: string): (ctx: DashboardContext) => Promise<T> {
  return async (ctx) => {
    const body = await readSmallBody(ctx.req, BODY_BYTES);
    checking(validatorOfShipped(name, 'input'))(body);
    return body as T;
  };
}

/**
 * Reads queries that fit `schemas/NAME.schema.json`; refuses others (400). An empty value, as forms
 * send it, counts as absent.
 */
export function queryReader<T>(name: string): (ctx: DashboardContext) => T {
  return (ctx) => {
    const given = Object.entries(ctx.query).filter(([, value]) => value !== '');
    const query = Object.fromEntries(given);
    checking(validatorOfShipped(name, 'query'))(query);
    return query as T;
  };
}
