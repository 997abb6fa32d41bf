import type { DashboardContext, Visitor } from '../types.js';
import { sendPage } from './page.js';
import { Card } from './parts.js';

interface Sent {
  noun: 'key' | 'token';
  /** The ID of the key or token that the first submission created. */
  id: string;
  /** The page that lists them. */
  above: { path: string; name: string };
}

/** Answers a form that has made its key or token already: on a double submit, or a reload. */
export function showSentBefore(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  { noun, id, above }: Sent,
): void {
  const { path } = above;
  const page = {
    title: 'This form was sent before',
    above,
    at: path,
    narrow: true,
    body: (
      <Card>
        <div class="stack">
          <p>The first submission created the {noun}. This one created nothing.</p>
          <p class="soft">
            The secret was in the answer to the first submission and cannot be shown again. If you
            did not copy it, revoke that {noun} and create another one.
          </p>
          <div class="row">
            <a class="button solid" href={`${path}/${id}/revoke`}>
              Revoke that {noun}
            </a>
            <a class="button" href={`${path}/new`}>
              Create another {noun}
            </a>
          </div>
        </div>
      </Card>
    ),
  };
  sendPage(ctx, visitor, page, 409);
}
