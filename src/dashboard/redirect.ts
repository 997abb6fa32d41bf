import type { DashboardContext } from './types.js';

/** The page to look at now, which may be reloaded, whatever was sent to come here. */
export function seeOther(ctx: DashboardContext, address: string): void {
  ctx.status = 303;
  ctx.redirect(address);
}
