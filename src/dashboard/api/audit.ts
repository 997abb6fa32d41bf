import type { AuditQuery } from '../../schema-types/audit-query.js';
import type { DashboardServices } from '../types.js';
import { auditPage, auditShape } from '../views/audit.js';
import { queryReader } from './input.js';
import { operatorRoute, type ApiRoute } from './route.js';

const readQuery = queryReader<AuditQuery>('audit-query');

/** The audit log, for operators and their programs. */
export function auditRoute(services: DashboardServices): ApiRoute {
  return operatorRoute({
    method: 'GET',
    path: '/api/audit',
    scope: 'audit:read',
    about: {
      id: 'listChanges',
      summary: 'List changes and who made them, newest first, page by page',
      query: 'audit-query',
      status: 200,
      answer: 'AuditPage',
    },
    async answer(ctx) {
      const { rows, next_cursor } = await auditPage(services, readQuery(ctx));
      ctx.body = { data: rows.map(auditShape), next_cursor };
    },
  });
}
