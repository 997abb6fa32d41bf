import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { nearestWord } from './did-you-mean.js';
import { quote, type Wrong } from './source.js';

/** The sources of `${NAME}` and `${file:path}`. */
export interface Surroundings {
  /** Undefined where values do not matter: each variable and each file is taken as set. */
  env: NodeJS.ProcessEnv | undefined;
  /** The folder that `${file:path}` is relative to. */
  directory: string;
  /** The values that may still be read, where several files share one maximum. */
  budget?: ValueBudget;
}

export interface ValueBudget {
  left: number;
}

const EXPANSION = /\$\$(?=\{)|\$\{([^}]*)(\}?)/g;
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;
const SECRET_FILE_BYTES = 65_536;

/** Called for what cannot be replaced; without a fault where its value does not matter. */
type OnUnknown = (wrong?: Wrong) => void;

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${file:path}`; `$${` stands for `${` itself. A
 * reference that cannot be replaced is reported to `fault`, in words without the value of any
 * variable.
 */
export function expand(text: string, surroundings: Surroundings, fault: OnUnknown): string {
  return text.replaceAll(EXPANSION, (whole, body: string | undefined, end: string | undefined) => {
    if (body === undefined) return '$';
    if (end === '') return failed(fault, malformed(whole, `} is missing${named(body)}`));
    if (body.startsWith('file:') && !surroundings.env) return unknown(fault);
    if (body.startsWith('file:')) return fromFile(body.slice(5), surroundings.directory, fault);
    return fromEnvironment(body, surroundings.env, fault);
  });
}

function fromEnvironment(
  body: string,
  env: NodeJS.ProcessEnv | undefined,
  fault: OnUnknown,
): string {
  const [, name, standby] = VARIABLE.exec(body) ?? [];
  if (name === undefined) {
    return failed(fault, malformed(`\${${body}}`, meant(body)));
  }
  if (!env) return unknown(fault);
  const value = env[name];
  // As in a shell, the default also replaces an empty variable.
  if (standby !== undefined) return value === undefined || value === '' ? standby : value;
  if (value !== undefined) return value;
  const near = nearestWord(name, Object.keys(env));
  return failed(fault, {
    code: 'unset_variable',
    message: `the environment variable ${quote(name)} is not set`,
    hint: near ? `did you mean ${quote(near)}?` : unsetHint(name),
  });
}

/** A secret has no default: one in the file would be seen by all who read it. */
function unsetHint(name: string): string {
  if (/KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL/i.test(name)) {
    return 'set it, or write it into the file .env beside this one';
  }
  return `set it, or write \${${name}:-default}`;
}

function fromFile(path: string, directory: string, fault: OnUnknown): string {
  const file = resolve(directory, path);
  try {
    const stat = statSync(file);
    if (path !== '' && stat.isFile() && stat.size <= SECRET_FILE_BYTES) {
      return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    }
  } catch {
    // A folder gives the same fault: the operator only needs to know which file it is.
  }
  return failed(fault, {
    code: 'unreadable_file',
    message: `the file ${quote(path)} cannot be read`,
    hint: 'paths are relative to the folder of the main file; a secret has at most 64kb',
  });
}

/** A variable as shells, compose, templates and workflows write it between braces. */
const FOREIGN_FORM =
  /^[\s{$]*(?:(?:process\.)?\.?env[:.]|secrets\.|vars\.)?([a-z_]\w*)\s*(?:(:?[-?+=])(.*))?$/i;

/** The variable that other programs would read here, in our form. */
function meant(body: string): string {
  const [, name, default_mark, standby] = FOREIGN_FORM.exec(body) ?? [];
  if (name === undefined) return 'write ${NAME}, ${NAME:-default} or ${file:path}';
  if (default_mark === '-') return `write \${${name}:-${standby}}`;
  return `write \${${name}}`;
}

function named(body: string): string {
  const name = /^[A-Za-z_]\w*/.exec(body)?.[0];
  return name === undefined ? '' : `: write \${${name}}`;
}

function malformed(word: string, hint: string): Wrong {
  return { code: 'bad_expansion', message: `${quote(word)} cannot be expanded`, hint };
}

function unknown(fault: OnUnknown): string {
  fault();
  return '';
}

function failed(fault: OnUnknown, wrong: Wrong): string {
  fault(wrong);
  return '';
}
