import type { Command } from 'commander';
import { cliActor } from './actor.js';
import { acting, command, withConfig } from './command.js';
import { printJson, printLine, formatTime } from './print.js';
import { accountCalled, withStore } from './store.js';
import { environmentOf } from './environment.js';

interface Options {
  config: string;
  operator?: boolean;
  json?: boolean;
}

/** `tollgate sign-in-link ACCOUNT [--operator]` */
export function signInLinkCommand(): Command {
  return withConfig(
    command(
      'sign-in-link',
      'print a link that signs in to the dashboard, once',
      'tollgate sign-in-link alice',
    )
      .argument('<account>', 'its name or id')
      .option('--operator', 'let whoever uses it see and manage every account')
      .option('--json', 'print {"url","expires"}')
      .action(acting(signInLink)),
  );
}

/** The store is read next, and tells of the file. */
const ignored = (): void => undefined;

async function signInLink(name: string, options: Options): Promise<void> {
  const { config, operator = false, json } = options;
  const { publicUrlOf } = await import('../config/single-settings.js');
  const { makeSignInLink } = await import('../dashboard/sign-in/sign-in-link.js');
  const configuration = { public_url: await publicUrlOf(config, environmentOf(config), ignored) };
  await withStore(config, async (store) => {
    const account = await accountCalled(store, name);
    const terms = { operator, by: cliActor() };
    const { url, due_ms } = await makeSignInLink({ store, configuration }, account.id, terms);
    if (json) return printJson({ url, expires: formatTime(due_ms) });
    const as = operator ? `${account.name}, as an operator` : account.name;
    printLine(`Open this within ten minutes to sign in to ${as}. It works once:`);
    printLine(url);
  });
}
