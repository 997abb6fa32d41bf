import type { Logger } from 'pino';
import type { Gateway } from '../gateway/gateway.js';
import { sentence } from './command.js';

/** The audit log names so many changes of one reload. */
const MAX_CHANGES = 20;

/**
 * Runs the reload of a configuration. If the gateway has taken up another one, the audit log tells
 * what it changes for clients and bills. A store that is away stops no reload.
 */
export async function withAudit(
  gateway: Gateway,
  log: Logger,
  reload: () => Promise<void>,
): Promise<void> {
  const before = gateway.configuration;
  await reload();
  const after = gateway.configuration;
  if (after === before) return;
  try {
    const { differences } = await import('../gateway/differences.js');
    // An address may hold a secret of the environment.
    const found = await differences(before, after, { isReload: true });
    const texts = found.length > 0 ? found.map(({ text }) => text) : ['nothing for clients'];
    const more = texts.length - MAX_CHANGES;
    const rest = more > 0 ? [`and ${more} more`] : [];
    await gateway.store.audit.reloaded([...texts.slice(0, MAX_CHANGES), ...rest]);
  } catch (error) {
    const reason = sentence(error);
    log.error({ reason }, 'the audit log does not tell of the changed configuration');
  }
}
