import type { DashboardContext } from './types.js';

/** Redirects to a page that says what was done. */
export function seeDone(ctx: DashboardContext, path: string, done: string): void {
  seeOther(ctx, `${path}${path.includes('?') ? '&' : '?'}done=${done}`);
}

/** Redirects by 303, so that a reload of the new page does not send a form again. */
export function seeOther(ctx: DashboardContext, address: string): void {
  ctx.status = 303;
  ctx.redirect(address);
}
