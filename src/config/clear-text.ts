import { isKey } from '../yaml/secrets.js';
import { variableName } from '../yaml/expand.js';
import { isExtension, quote, segments, type Mark, type Source } from '../yaml/source.js';

/** Reports variables in the form of other programs, secrets in clear text, and placeholders. */
export function checkTexts(source: Source, gateway: object): void {
  source.eachMark((pointer, mark) => {
    if (mark.text === undefined || isExtension(pointer)) return;
    if (mark.expanded) {
      checkDefault(source, pointer, mark);
      checkHome(source, pointer, mark);
    } else if (!checkUnexpanded(source, pointer, mark.text, gateway)) {
      checkSecret(source, pointer, mark.text);
    }
  });
}

/** The beginnings of these forms. Other texts, which are most, need no further test. */
const FOREIGN_START = /^(?:[$%{]|env[:./]|ENV\[|os\.|process\.|vault:)/;

const NAME = '([A-Za-z_][A-Za-z0-9_]{0,99})';

/** The ways in which other programs write a variable of the environment. */
const FOREIGN_VARIABLES = [
  `^\\$(?:env:)?${NAME}$`,
  `^\\$\\(${NAME}\\)$`,
  `^(?:os\\.environ[/.]|(?:process\\.)?env[:./]|env:/+)${NAME}$`,
  `^(?:os\\.environ|(?:process\\.)?env|ENV|os\\.getenv)[[(]['"]${NAME}['"][\\])]$`,
  `^%${NAME}%$`,
  `^\\{\\$${NAME}\\}$`,
  `^\\{env\\.${NAME}\\}$`,
  `^\\$?\\{\\{ ?(?:\\.?[Ee]nv\\.|secrets\\.|vars\\.)?${NAME} ?\\}\\}$`,
  `^\\{\\{-? ?\\.Values\\.([\\w.-]{1,100}) ?-?\\}\\}$`,
  `^\\{?vault://env/([\\w-]{1,100})\\}?$`,
].map((form) => new RegExp(form));

/** Reports a variable that nothing replaces. Returns whether the text is one. */
function checkUnexpanded(source: Source, pointer: string, text: string, gateway: object): boolean {
  if (!FOREIGN_START.test(text) || pointer.includes('/set/')) return false;
  const name = FOREIGN_VARIABLES.map((form) => form.exec(text)?.[1]).find(Boolean);
  if (name === undefined) return false;
  // A block of another program has one fault, and nothing in it is read.
  if (!Object.hasOwn(gateway, segments(pointer)[0] ?? '')) return true;
  reportUnexpanded(source, pointer, name);
  return true;
}

function reportUnexpanded(source: Source, pointer: string, name: string): void {
  const message = `${source.word(pointer)} is not expanded: it is sent as it stands`;
  const variable = (/[.-]/.test(name) && variableName(name)) || name;
  source.fault(pointer, { code: 'not_expanded', message, hint: `write "\${${variable}}"` });
}

const SECRETS: ReadonlySet<string> = new Set([
  'api_key',
  'client_secret',
  'secret_access_key',
  'session_token',
  'secret',
]);
/** Headers of a provider or a collector in which keys travel. */
const SECRET_HEADER = /authorization|api-?key|token|secret|^x-honeycomb-team$/i;
/** Secrets of providers have at least this length. */
const SECRET_CHARACTERS = 20;
const SECRET_FORM = /^(?:(?:Bearer|Basic|Key|Token) )?[\w.+/=-]+$/;
/** Placeholders for a key in guides and forms. */
const STAND_IN =
  /^(?:your|my|insert|enter|change|replace)[-_ ]|^changeme$|\.\.\.|…|^<.*>$|^(?:sk-)?x{4,100}$/i;
/** The bare name of a variable, without `${` and `}`. */
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

function isSecret(pointer: string): boolean {
  const slash = pointer.lastIndexOf('/');
  const key = pointer.slice(slash + 1);
  return SECRETS.has(key) || (pointer.endsWith('/headers', slash) && SECRET_HEADER.test(key));
}

/** Warns of a secret in clear text. The message never shows it. */
function checkSecret(source: Source, pointer: string, text: string): void {
  if (!isSecret(pointer) || checkReference(source, pointer, text)) return;
  const key = segments(pointer).at(-1) ?? '';
  if (STAND_IN.test(text)) {
    const message = `${key} is a stand-in for the real value`;
    const write = `write "\${${variableOf(pointer)}}"`;
    const hint = `${write}, and set that environment variable to the real one`;
    source.fault(pointer, { code: 'placeholder', message, hint });
  } else if (VARIABLE_NAME.test(text)) reportUnexpanded(source, pointer, text);
  else if (isKey(text) || (isLong(text) && SECRET_FORM.test(text))) {
    const variable = variableOf(pointer);
    reportClear(source, pointer, `write "\${${variable}}" and set that environment variable`);
  }
}

/** References of other programs to a secret in a vault. */
const VAULT = /^(?:vault|op|aws-?\w*|gcp-?\w*|azure-?\w*|ssm|arn|secrets?|keyvault|doppler):(?=.)/i;
/** The path of a file that holds a secret. */
const SECRET_FILE =
  /^(?:file:(?:\/\/)?|@)?((?:\.{1,2}|~|\/(?:run|etc|var|home|mnt|opt|secrets))\/\S+)$/;

/** Reports a reference to a secret in the form of another program. Returns whether it is one. */
function checkReference(source: Source, pointer: string, text: string): boolean {
  const [, path] = SECRET_FILE.exec(text) ?? [];
  if (path === undefined && !VAULT.test(text)) return false;
  const from_file = path === undefined ? '' : `write "\${file:${path}}"`;
  const from_vault = `put the secret into a variable or a file: write "\${${variableOf(pointer)}}"`;
  source.fault(pointer, {
    code: 'not_expanded',
    message: `${source.word(pointer)} is not looked up: it is sent as it stands`,
    hint: from_file || `${from_vault} or "${'${file:PATH}'}"`,
  });
  return true;
}

/** The name that a variable for this secret would usually have: `ANTHROPIC_API_KEY`. */
export function variableOf(pointer: string): string {
  const [key = '', ...before] = segments(pointer).toReversed();
  const entry = before.find((one) => !/^(?:headers|\d+)$/.test(one)) ?? '';
  const name = `${entry}_${key}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  return name.replace(/^(?=\d)/, '_');
}

/** Whether a text may be a secret: a long one, or one of 7 characters with letters and digits. */
function isLong(text: string): boolean {
  return text.length >= SECRET_CHARACTERS || /^(?=.*[a-z])(?=.*\d).{7,}$/i.test(text);
}

/** Warns of a secret in the default of a variable, which is clear text too. */
function checkDefault(source: Source, pointer: string, { written = '', text = '' }: Mark): void {
  if (!isSecret(pointer)) return;
  const [, escaped] = /^\$\$\{(\w+)\}$/.exec(written) ?? [];
  if (escaped !== undefined) reportUnexpanded(source, pointer, escaped);
  if (STAND_IN.test(text) && !source.unread.has(pointer)) reportStandIn(source, pointer, written);
  const [, named] = /^(?:export )?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=/.exec(text) ?? [];
  if (named !== undefined && !source.unread.has(pointer))
    reportNamed(source, pointer, written, named);
  const [, name, standby = ''] = /\$\{(\w+):-([^}]*)\}/.exec(written) ?? [];
  if (!isKey(standby) && !(isLong(standby) && SECRET_FORM.test(standby))) return;
  reportClear(source, pointer, `write "\${${name}}", without the default`);
}

/** Warns of a secret with the name of its variable before it, as a line of .env has it. */
function reportNamed(source: Source, pointer: string, written: string, name: string): void {
  const key = segments(pointer).at(-1) ?? '';
  const message = `${key}: what ${quote(written)} stands for begins with "${name}="`;
  const hint = 'leave only the secret itself there';
  source.faultAsWritten(pointer, { code: 'placeholder', message, hint, severity: 'warning' });
}

/** Warns of a variable that was copied from an example, and never set to the real value. */
function reportStandIn(source: Source, pointer: string, written: string): void {
  const key = segments(pointer).at(-1) ?? '';
  const [, name] = /^\$\{(\w+)/.exec(written) ?? [];
  const message = `${key}: ${quote(written)} holds a placeholder, not the real value`;
  const hint = `set ${name ?? 'it'} to the real one, in the environment or in the file .env`;
  source.faultAsWritten(pointer, { code: 'placeholder', message, hint, severity: 'warning' });
}

/** Reports `${file:~/NAME}` where no file shows it: only a shell replaces ~. */
function checkHome(source: Source, pointer: string, { written = '' }: Mark): void {
  const [, path] = /\$\{file:~(\/[^}]*)\}/.exec(written) ?? [];
  if (path === undefined || !source.unread.has(pointer)) return;
  const message = 'the ~ of this path is not replaced by a home folder';
  const hint = `write the whole path, such as \${file:/home/USER${path}}`;
  source.faultAsWritten(pointer, { code: 'unreadable_file', message, hint });
}

function reportClear(source: Source, pointer: string, way: string): void {
  const key = segments(pointer).at(-1) ?? '';
  const message = `${key} stands in clear text in this file, for everybody who can read it`;
  const hint = `${way}, or ${'${file:PATH}'}`;
  source.faultAsWritten(pointer, { code: 'secret_in_clear', message, hint, severity: 'warning' });
}
