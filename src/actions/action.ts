import type { Actor } from '../core/actor.js';
import type { Configuration } from '../core/configuration.js';
import { GatewayError } from '../core/errors.js';
import type { Scope } from '../core/scopes.js';
import type { Account } from '../store/accounts/accounts.js';
import { checkedReference } from '../store/column-values.js';
import type { ProviderHealth } from '../telemetry/provider-health.js';
import { IdTaken, NoCharge, StoreError } from '../store/store-error.js';
import type { Store } from '../store/store-types.js';

/** The parts of the program that actions use. */
export interface ActionServices {
  store: Store;
  /** Milliseconds since 1970. */
  now: () => number;
  /** The gateway that serves; undefined for the command line, which works beside any. */
  gateway?: RunningGateway;
  /** `public_url`, which the command line reads from the file only when an action needs it. */
  publicUrl(this: void): string | Promise<string>;
}

/** The facts of a gateway that serves. */
export interface RunningGateway {
  /** The configuration in use. */
  configuration: Configuration;
  /** The outcomes of this process's calls to each provider. */
  health: ProviderHealth;
}

/** Who asks for an action, and the data that are theirs. */
export interface ActionCaller {
  actor: Actor;
  /** Undefined for a program with a management token and for the command line. */
  account_id?: string;
  /** An API key reads the records of its own calls only. */
  key_id?: string;
  /** The e-mail address of a person who signed in with one. */
  email?: string | null;
  /** Reads and changes all accounts. */
  is_operator: boolean;
}

/**
 * How the command line and a form ask for a field of the input. `type` says how its text becomes a
 * value: `account` is a name or an ID and becomes the ID; `lifetime` is a duration such as `30d`
 * and becomes seconds; `models` and `scopes` are lists; `allowances` are amounts by their windows,
 * `raise` is one of them, and `until` a duration or a time, which becomes a time. A field of a name
 * with a dot is within another one: `rates.tokens_per_minute`.
 */
export interface Field {
  /** An argument, `<amount>`; or an option, `--limit <dollars>`, a flag without a value. */
  typed: string;
  about: string;
  type:
    | 'text'
    | 'dollars'
    | 'lifetime'
    | 'account'
    | 'models'
    | 'scopes'
    | 'flag'
    | 'allowances'
    | 'rate'
    | 'raise'
    | 'until';
  /** The option must be given; arguments always must. */
  is_required?: true;
  default?: string;
  /** How forms ask for it; without this they do not. */
  form?: FieldForm;
}

export interface FieldForm {
  label: string;
  hint?: string;
  placeholder?: string;
  /** The maximum length. */
  max?: number;
}

/** The account of an action, as the command line asks for it. */
export const ACCOUNT_FIELD: Field = {
  typed: '<account>',
  about: 'its name or id',
  type: 'account',
};

/** The facts that the text of a command may name, beside the result. */
export interface CommandFacts {
  /** The account that was typed. */
  account?: Account;
  /** Whether `--since` was typed. */
  is_since: boolean;
}

/** The texts of the command that is made from an action. */
interface CommandWords {
  /** What `--json` prints, where it is not the usual. */
  json?: string;
  /** Begins small, without a period. */
  about: string;
  example: string;
  /** Text below the options. */
  details?: string;
}

/** A command that does something and says what it did. */
export interface ActionCommand<Result> extends CommandWords {
  /** Makes the store where there is none. */
  creates?: true;
  document(result: Result): object;
  /** The text without `--json`: sentences, or names and values with `columns`. */
  lines?(result: Result, facts: CommandFacts): readonly string[];
  columns?(result: Result, names: RowNames): Promise<Columns>;
}

/** A route of the management API, and its operation in the OpenAPI document. */
export interface ActionRoute {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /**
   * `:accountID` names the account, and any other parameter a field of the input: `:keyID` is
   * `key_id`.
   */
  path: string;
  /** The operation ID. */
  id: string;
  summary: string;
  /** For operators, and for tokens with this scope; without it, for people about their account. */
  scope?: Scope;
  /** Not for operators alone: people read what is theirs. */
  is_open?: true;
  /** Also takes an API key, which can read the records of its own calls; or takes nothing else. */
  takes_keys?: true | 'alone';
  status: 200 | 201 | 204;
  /** The name of the answer's schema in `schemas/management-answers.schema.json`. */
  answer?: string;
}

interface Described {
  /** The words of the command, `key create`; unique also where there is no command. */
  name: string;
  /** `schemas/NAME.schema.json` of the body, or of the query of a GET. */
  schema?: string;
  /** The command line and forms take an empty value of an option, or the word `none`, as null. */
  takes_none?: true;
  /** How the command line asks for the input, in this order. */
  fields?: Readonly<Record<string, Field>>;
  routes?: readonly ActionRoute[];
}

/**
 * A change, or the reading of one thing. `Input` has the fields of the schema and of the path. The
 * store notes each change in the audit log, in the transaction that makes it.
 */
export interface OneAction<Input extends object = object, Result = unknown> extends Described {
  /** Throws `GatewayError` for an input that cannot be carried out. */
  run(services: ActionServices, input: Input, caller: ActionCaller): Promise<Result>;
  /** Another scope that a token needs for such an input. */
  scopeFor?(input: Input): Scope | undefined;
  /** The body of an answer of the management API; a 204 has none. */
  answer?(result: Result, caller: ActionCaller): object;
  /** The answer as CSV, and the name of its file; undefined where the input wants JSON. */
  csv?(
    result: Result,
    input: Input,
    caller: ActionCaller,
  ): { file: string; text: string } | undefined;
  command?: ActionCommand<Result>;
}

/** The place in a list after which a page begins: that of the last row of the page before. */
export type Place = string | number | readonly (string | number)[];

/** The part of a list that is wanted. */
export interface Page {
  limit: number;
  /** Only rows from this time on. */
  since_ms?: number;
  after?: Place;
}

export type Cell = string | number | boolean | object | null;
export type Columns = Readonly<Record<string, Cell>>;

/** The command that prints a list. */
export interface ListCommand<Input, Row> extends CommandWords {
  /** The number of rows without `--limit`; all where this is left out. */
  rows?: number;
  /** The list takes no `--limit` and no `--since`. */
  is_whole?: true;
  /** The rows in the order of the command, where that is not the order of the API. */
  find?(services: ActionServices, input: Input, page: Page): Promise<readonly Row[]>;
  /** A row of the JSON document, where that is not the row of the API. */
  document?(row: Row): object;
  /** A row of the table, where that is not the row of the document. */
  columns?(row: Row, names: RowNames): Promise<Columns>;
  none(facts: CommandFacts): string;
}

/** Looks up names by ID. */
export interface RowNames {
  /** An account without a name stands for itself. */
  account(id: string): Promise<string>;
  key(id: string): Promise<string | null>;
}

/** A list, page by page in the API. */
export interface ListAction<Input extends object = object, Row = unknown> extends Described {
  /** At most `page.limit` rows, in the order of the API. */
  rows(
    this: void,
    services: ActionServices,
    input: Input,
    page: Page,
    caller: ActionCaller,
  ): Promise<readonly Row[]>;
  /** The place of a row, and whether a value is one; a list without places has one page. */
  place?: { of(this: void, row: Row): Place; is(this: void, value: unknown): value is Place };
  shape(this: void, row: Row, caller: ActionCaller): object;
  /** The list as a file for spreadsheets: the fields of `shape` that are its columns. */
  csv: { file: string; columns(this: void, caller: ActionCaller): readonly string[] };
  command?: ListCommand<Input, Row>;
}

export type Action = OneAction | ListAction;

export function isList(action: Action): action is ListAction {
  return 'rows' in action;
}

/** Gives an action the types of its input and its result. */
export function oneAction<Input extends object, Result>(
  action: OneAction<Input, Result>,
): OneAction<Input, Result> {
  return action;
}

/** Gives a list the types of its input and its rows. */
export function listAction<Input extends object, Row>(
  action: ListAction<Input, Row>,
): ListAction<Input, Row> {
  return action;
}

/** Sets a field of an input by its name, which may say within which other one it is. */
export function setInput(input: Record<string, unknown>, name: string, value: unknown): void {
  const [within = name, part] = name.split('.');
  const before = input[within];
  if (part !== undefined) input[within] = { ...(before as object | undefined), [part]: value };
  else if (typeof before === 'object') input[within] = { ...before, ...(value as object) };
  else input[within] = value;
}

/** The subject of an action does not exist. */
export class NotThere extends GatewayError {
  constructor(
    message: string,
    /** The message on the command line, which names the commands that help. */
    readonly typed_message: string,
  ) {
    super('not_found', message);
  }
}

/** The account of this ID. Throws `NotThere` for an unknown one. */
export async function accountOfId(store: Store, id: string): Promise<Account> {
  const account = await store.account(id);
  if (account?.id === id) return account;
  throw new NotThere(
    'There is no such account.',
    `there is no account "${id}"; "tollgate account list" shows all`,
  );
}

/** The gateway that serves. Throws for an action that the command line has not. */
export function requireGateway(gateway: RunningGateway | undefined): RunningGateway {
  if (gateway) return gateway;
  throw new Error('The action needs a gateway that serves.');
}

/** The error (400) of an invalid field or parameter. */
export function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

/** The reference of a credit or a refund. Throws `GatewayError` (400) for a blank one. */
export function readReference(text: string): Promise<string> {
  return asInvalid('reference', async () => checkedReference(text));
}

/** The maximum length of the name of an account, a key or a token. */
export const NAME_CHARACTERS = 100;

/** A name without the spaces around it. Throws `GatewayError` (400) if it is too long. */
export function readName(text: string): string {
  const name = text.trim();
  if (Array.from(name).length <= NAME_CHARACTERS) return name;
  throw invalid('name', `name must have at most ${NAME_CHARACTERS} characters.`);
}

/**
 * Turns a refusal of the store, whose message is written for people, into a 400 of the field.
 * Throws `NoCharge` and `IdTaken` as they are, as they concern no field.
 */
export async function asInvalid<T>(param: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfField =
      error instanceof StoreError && !(error instanceof NoCharge || error instanceof IdTaken);
    if (!isOfField) throw error;
    throw invalid(param, error.message);
  }
}
