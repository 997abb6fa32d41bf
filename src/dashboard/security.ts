import helmet from 'koa-helmet';
import type { Context } from '../pipeline/stage.js';

const YEAR_S = 31_536_000;

const POLICY = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'", 'data:', 'blob:'],
  'media-src': ["'self'", 'blob:', 'data:'],
  'connect-src': ["'self'"],
  'form-action': ["'self'"],
  'frame-ancestors': ["'none'"],
  'base-uri': ["'none'"],
};

type SecurityHeaders = (ctx: Context) => Promise<void>;

/** The headers of every answer of the dashboard, errors too. */
export function securityHeaders(https: boolean, inline_styles: boolean): SecurityHeaders {
  const style = inline_styles ? { 'style-src': ["'self'", "'unsafe-inline'"] } : {};
  const set = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { ...POLICY, ...style } },
    strictTransportSecurity: https && { maxAge: YEAR_S, includeSubDomains: false },
    // With a stricter policy browsers would send no origin with our own forms.
    referrerPolicy: { policy: 'same-origin' },
    xFrameOptions: { action: 'deny' },
  });
  return async (ctx) => {
    await set(ctx, () => Promise.resolve());
    // A route with a public answer overrides this.
    ctx.set('cache-control', 'no-store');
  };
}
