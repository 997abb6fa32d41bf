import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { nearestVariable } from './did-you-mean.js';
import { envSlip } from './env-file.js';
import { quote, type FaultDetails } from './source.js';

/** Where `${NAME}` and `${file:path}` get their values. */
export interface ExpansionContext {
  /** Undefined where values do not matter: each variable and each file is taken as set. */
  env: NodeJS.ProcessEnv | undefined;
  /** The folder that `${file:path}` is relative to. */
  directory: string;
  /**
   * Whether the value at a JSON pointer matters. Elsewhere an unset variable or an unreadable file
   * is no fault. Absent where all values matter.
   */
  isNeeded?: ((pointer: string) => boolean) | undefined;
  /** True for a manifest, whose templates have paths such as `$.prompt`. */
  hasPaths?: boolean;
  /** The values that may still be read, where several files share one maximum. */
  budget?: ValueBudget;
}

/** More values than any gateway needs. A file whose aliases multiply is stopped at this number. */
export const MAX_VALUES = 200_000;

/** How many values may still be read; each reader counts it down. */
export interface ValueBudget {
  left: number;
}

const EXPANSION = /\$\$(?=\{)|\$\{([^}]*)(\}?)/g;
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;
const SECRET_FILE_BYTES = 65_536;

/** Called for a reference that cannot be replaced; without a fault where values do not matter. */
type OnUnknown = (wrong?: FaultDetails) => void;

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${file:path}`; `$${` stands for `${` itself. A
 * reference that cannot be replaced is reported to `fault`, in words without the value of any
 * variable.
 */
export function expand(text: string, context: ExpansionContext, fault: OnUnknown): string {
  return text.replaceAll(EXPANSION, (whole, body: string | undefined, end: string | undefined) => {
    if (body === undefined) return '$';
    if (end === '') return failed(fault, malformed(whole, `} is missing${nameHint(body)}`));
    if (body.startsWith('file:') && !context.env) return unknown(fault);
    if (body.startsWith('file:')) return fromFile(body.slice(5), context.directory, fault);
    return fromEnvironment(body, context, fault);
  });
}

function fromEnvironment(
  body: string,
  { env, hasPaths = false }: ExpansionContext,
  fault: OnUnknown,
): string {
  const [, name, default_value] = VARIABLE.exec(body) ?? [];
  const path = hasPaths && env?.[body] === undefined ? pathOf(body) : undefined;
  if (path !== undefined) {
    const message = `\${ and } hold the name of an environment variable, not ${quote(body)}`;
    return failed(fault, { code: 'unset_variable', message, hint: `write ${path}` });
  }
  if (name === undefined) {
    return failed(fault, malformed(`\${${withoutSecret(body)}}`, formHint(body)));
  }
  if (!env) return unknown(fault);
  const value = env[name];
  // As in a shell, the default also replaces an empty variable.
  if (default_value !== undefined) return value || default_value;
  if (value !== undefined) return value;
  return failed(fault, {
    code: 'unset_variable',
    message: `the environment variable ${quote(name)} is not set`,
    hint: envSlip(env, name) ?? unsetHint(name, env),
  });
}

/** The path of a template for a name in small letters, which no variable usually has. */
function pathOf(body: string): string | undefined {
  const [, name] =
    /^\s*(?:\$?\.|(?:call|input|request|body|inputs)\.)?([a-z][a-z0-9_.]*)\s*$/.exec(body) ?? [];
  return name === 'model' ? '$model' : name && `$.${name}`;
}

const SECRET = /KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL/i;

/** Cuts the default from a malformed reference to a secret, for a message. */
function withoutSecret(body: string): string {
  return body.replace(/^(\w+(?::?[-=+]|:(?!\?))).+$/s, (whole, name: string) => {
    return SECRET.test(name) ? `${name}...` : whole;
  });
}

/** Suggests a default, except for a secret: everybody who reads the file would see it. */
function unsetHint(name: string, env: NodeJS.ProcessEnv): string {
  const near = nearestVariable(name, Object.keys(env));
  if (near !== undefined) return `did you mean ${quote(near)}, which is set?`;
  if (SECRET.test(name)) {
    return `set it, or write it into the file .env beside this one: ${name}=VALUE`;
  }
  return `set it, or write \${${name}:-default}`;
}

function fromFile(path: string, directory: string, fault: OnUnknown): string {
  const file = resolve(directory, path);
  let hint = 'it is no regular file of at most 64kb';
  try {
    const stat = statSync(file);
    if (path !== '' && stat.isFile() && stat.size <= SECRET_FILE_BYTES) {
      return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    }
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const missing = path.startsWith('~')
      ? `~ is not replaced by a home folder: write the whole path, /home/USER${path.slice(1)}`
      : 'there is no such file: a path is relative to the folder of the main file';
    hint = isMissing ? missing : 'the user of the gateway may not read it';
  }
  return failed(fault, {
    code: 'unreadable_file',
    message: `the file ${quote(path)} cannot be read`,
    hint,
  });
}

/** The forms of a variable in shells, Docker Compose, templates and GitHub workflows. */
const FOREIGN_FORM =
  /^[\s{$]*(?:(?:process\.)?\.?env[:.]|secrets\.|vars\.)?([a-z_]\w*)\s*(?:(:?[-?+=]|:)(.*))?$/i;

/** A hint with the reference in our form, for one in the form of another program. */
function formHint(body: string): string {
  const [, name, mark, default_value] = FOREIGN_FORM.exec(body) ?? [];
  const path = /^@?((?:\.{0,2}|~)\/\S+)$/.exec(body)?.[1];
  if (path !== undefined) return `write \${file:${path}}`;
  if (name === undefined) return `write \${${variableName(body) ?? 'NAME'}}`;
  if (/^[A-Z][A-Z0-9]*(?:-[A-Z][A-Z0-9]*)+$/.test(body)) return `write \${${variableName(body)}}`;
  const isDefault = mark !== undefined && /^:?[-=]?$/.test(mark);
  return isDefault && !SECRET.test(name)
    ? `write \${${name}:-${default_value}}`
    : `write \${${name}}`;
}

/** `LAB_API_KEY` for `lab.apiKey`; undefined for a text that no variable can be called. */
export function variableName(text: string): string | undefined {
  const words = text
    .trim()
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .replaceAll(/[ .-]/g, '_');
  const name = words.toUpperCase();
  return /^[A-Z_]\w*$/.test(name) ? name : undefined;
}

function nameHint(body: string): string {
  const name = /^[A-Za-z_]\w*/.exec(body)?.[0];
  return name === undefined ? '' : `: write \${${name}}`;
}

function malformed(word: string, hint: string): FaultDetails {
  return { code: 'bad_expansion', message: `${quote(word)} cannot be expanded`, hint };
}

function unknown(fault: OnUnknown): string {
  fault();
  return '';
}

function failed(fault: OnUnknown, wrong: FaultDetails): string {
  fault(wrong);
  return '';
}
