import type { Logger } from 'pino';
import type { Gateway } from '../gateway/gateway.js';
import { sentence } from './command.js';

/** The most changes of one reload that the audit log names. */
const MAX_CHANGES = 20;

/**
 * Runs a reload, and writes an audit entry if the configuration has changed. The entry names the
 * changes for clients and bills. If the store fails, the reload stays and the log has an error.
 */
export async function withAudit(
  gateway: Gateway,
  log: Logger,
  reload: () => Promise<void>,
): Promise<void> {
  const before = gateway.configuration;
  await reload();
  if (gateway.configuration === before) return;
  try {
    const { differences } = await import('../gateway/differences.js');
    // An address may hold a secret of the environment.
    const found = await differences(before, gateway.written, { isReload: true });
    const texts = found.length > 0 ? found.map(({ text }) => text) : ['nothing for clients'];
    const omitted = texts.length - MAX_CHANGES;
    const rest = omitted > 0 ? [`and ${omitted} more`] : [];
    await gateway.store.audit.reloaded([...texts.slice(0, MAX_CHANGES), ...rest]);
  } catch (error) {
    const reason = sentence(error);
    log.error({ reason }, 'the audit log does not tell of the changed configuration');
  }
}
