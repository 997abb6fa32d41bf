import type { DashboardContext } from '../types.js';

/** After a form: the page to look at now, which may be reloaded. */
export function seeOther(ctx: DashboardContext, path: string): void {
  ctx.redirect(path);
  ctx.status = 303;
}
