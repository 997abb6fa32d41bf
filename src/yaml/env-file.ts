import { parseEnv } from 'node:util';

/** Lines that set nothing, in words, by the variable that each should set. */
type Slips = ReadonlyMap<string, string>;

/** The slips of the file that an environment was made from. */
const slips_of = new WeakMap<NodeJS.ProcessEnv, Slips>();

/**
 * The variables of a file. Node 20 takes a line without "=" into the name of the next variable:
 * only the last line of that is its name, and what stands before it may be a secret.
 */
export function readEnvFile(text: string): Record<string, string> {
  const named = Object.entries(parseEnv(withHashes(text))).map(([key, value = '']) => {
    const last = key.slice(key.lastIndexOf('\n') + 1);
    return [last.trim().replace(/^export\s+/, ''), value] as const;
  });
  return Object.fromEntries(named.filter(([name]) => !/[:\s]/.test(name)));
}

/** A variable with its value: one between quotes, of several lines perhaps, or a plain one. */
const ASSIGNMENT =
  /^([ \t]*(?:export[ \t]+)?\w+[ \t]*=[ \t]*)(?:(["'`])[^]*?\2|([^\s"'`#][^\r\n]*))/gmu;

/**
 * Puts a plain value with a # in it between quotes: Node would cut `p#ssw0rd` there. Only a #
 * behind white space begins a comment, as for Docker and for a shell.
 */
function withHashes(text: string): string {
  return text.replace(ASSIGNMENT, (all, head: string, _mark, plain: string | undefined) => {
    if (plain === undefined || !plain.includes('#')) return all;
    const comment = plain.search(/\s#/u);
    const value = (comment < 0 ? plain : plain.slice(0, comment)).trimEnd();
    const mark = ["'", '`', '"'].find((one) => !value.includes(one));
    return value.includes('#') && mark ? head + mark + value + mark : all;
  });
}

/** Notes the lines of a file that an environment lacks. Nothing of their values is kept. */
export function noteSlips(env: NodeJS.ProcessEnv, file: string, text: string): void {
  const slips = new Map<string, string>();
  for (const [i, line] of text.split('\n').entries()) {
    const [, name] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*:(?!=)/.exec(line) ?? [];
    if (name === undefined || slips.has(name)) continue;
    slips.set(name, `line ${i + 1} of ${file} has a colon in place of "=": write ${name}=VALUE`);
  }
  slips_of.set(env, slips);
}

/** What is wrong with the line that should set a variable; undefined if there is no such line. */
export function envSlip(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return slips_of.get(env)?.get(name);
}
