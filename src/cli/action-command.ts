import { Option, type Command } from 'commander';
import {
  isList,
  NotThere,
  type Action,
  type ActionCaller,
  type ActionServices,
  type Columns,
  type CommandFacts,
  type Field,
  type ListAction,
  type OneAction,
} from '../actions/action.js';
import { ACTIONS, GROUPS } from '../actions/index.js';
import { cliActor } from './actor.js';
import { acting, command, group, repeated, UsageError, withConfig } from './command.js';
import { environmentOf } from './environment.js';
import { paged, pageOf, type PageOptions } from './listing.js';
import { namesOf } from './names.js';
import { printJson, printLine } from './print.js';
import { formatCell, printRows } from './print-rows.js';
import { accountCalled, withStore } from './store.js';
import { gatherScopes, readTyped } from './typed-fields.js';

interface Options extends PageOptions {
  config: string;
  json?: boolean;
}

/** The command of an action, or the group of the commands whose names begin with this word. */
export function actionCommand(word: string): Command {
  const own = ACTIONS.filter(({ name, command: words }) => words && name.split(' ')[0] === word);
  const made = own.map(commandOf);
  const about = GROUPS[word];
  if (about) return group(word, about.about, about.example, made);
  const [only, ...others] = made;
  if (!only || others.length > 0) throw new Error(`"${word}" is not the name of one action.`);
  return withConfig(only);
}

function commandOf(action: Action): Command {
  const { name, command: words, fields = {} } = action;
  if (!words) throw new Error(`${name} is no command.`);
  const target = command(name.split(' ').at(-1) ?? '', words.about, words.example);
  if (isList(action) && !action.command?.is_whole) paged(target, action.command?.rows?.toString());
  const attributes = Object.entries(fields).map(([field, asked]) => {
    if (asked.typed.startsWith('<')) {
      target.argument(asked.typed, asked.about);
      return { field };
    }
    const option = optionOf(asked);
    target.addOption(option);
    return { field, attribute: option.attributeName() };
  });
  target.option('--json', words.json ?? 'print one JSON document');
  if (words.details !== undefined) target.addHelpText('after', words.details);
  return target.action(
    acting(async (...typed: unknown[]) => {
      const named = attributes.filter(({ attribute }) => attribute === undefined);
      const options = typed[named.length] as Options & Record<string, unknown>;
      const values = attributes.map(({ field, attribute }) => {
        const at = named.findIndex((one) => one.field === field);
        return [field, attribute === undefined ? typed[at] : options[attribute]] as const;
      });
      await actTyped(action, new Map(values), options);
    }),
  );
}

function optionOf({ typed, about, type, is_required, default: standard }: Field): Option {
  const option = new Option(typed, about).makeOptionMandatory(is_required === true);
  if (type === 'models' || type === 'allowances') option.argParser(repeated);
  if (type === 'scopes') option.argParser(gatherScopes);
  return standard === undefined ? option : option.default(standard);
}

/** Throws `UsageError` for a typed value that is invalid, before it opens the store. */
async function actTyped(
  action: Action,
  typed: ReadonlyMap<string, unknown>,
  options: Options,
): Promise<void> {
  const { config, json, since } = options;
  const { fields = {} } = action;
  const input = await readTyped(action, typed, config);
  const act = isList(action) ? printing(action, options) : carryingOut(action, json);
  const creates = !isList(action) && action.command?.creates === true;
  const work = async (store: ActionServices['store']): Promise<void> => {
    const facts: CommandFacts = { is_since: since !== undefined };
    for (const [name, { type }] of Object.entries(fields)) {
      const called = input[name];
      if (type !== 'account' || typeof called !== 'string') continue;
      facts.account = await accountCalled(store, called);
      input[name] = facts.account.id;
    }
    const services = { store, now: Date.now, publicUrl: () => publicUrlIn(config) };
    try {
      await act(services, input, facts);
    } catch (error) {
      throw error instanceof NotThere ? new UsageError(error.typed_message) : error;
    }
  };
  await withStore(config, work, { creates });
}

/** The store is read too, and tells of a file that is no YAML. */
const ignored = (): void => undefined;

async function publicUrlIn(config: string): Promise<string> {
  const { publicUrlOf } = await import('../config/single-settings.js');
  return publicUrlOf(config, environmentOf(config), ignored);
}

function cliCaller(): ActionCaller {
  return { actor: cliActor(), is_operator: true };
}

type Act = (services: ActionServices, input: object, facts: CommandFacts) => Promise<void>;

function carryingOut(action: OneAction, json: boolean | undefined): Act {
  const { command: words } = action;
  return async (services, input, facts) => {
    const result = await action.run(services, input, cliCaller());
    if (json) return printJson(words?.document(result));
    for (const line of words?.lines?.(result, facts) ?? []) printLine(line);
    const columns = (await words?.columns?.(result, namesOf(services.store))) ?? {};
    for (const [name, value] of Object.entries(columns)) {
      const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
      printLine(`${name.padEnd(15)} ${formatCell(text)}`);
    }
  };
}

function printing(action: ListAction, options: Options): Act {
  const { command: words } = action;
  const page = pageOf(options, Date.now(), words?.rows);
  const caller = cliCaller();
  return async (services, input, facts) => {
    const rows = words?.find
      ? await words.find(services, input, page)
      : await action.rows(services, input, page, caller);
    const names = namesOf(services.store);
    const shown = rows.map(async (row) => {
      if (words?.columns && !options.json) return words.columns(row, names);
      return { ...(words?.document?.(row) ?? action.shape(row, caller)) } as Columns;
    });
    printRows(await Promise.all(shown), options.json, words?.none(facts) ?? '');
  };
}
