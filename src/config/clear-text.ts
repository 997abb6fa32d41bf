import { isKey } from '../yaml/secrets.js';
import { variableName } from '../yaml/expand.js';
import { isExtension, segments, type Mark, type Source } from '../yaml/source.js';

/** Reports variables in the form of other programs, secrets in clear text, and placeholders. */
export function checkTexts(source: Source, gateway: object): void {
  source.eachMark((pointer, mark) => {
    if (mark.text === undefined || isExtension(pointer)) return;
    if (mark.expanded) {
      checkEscaped(source, pointer, mark);
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
export const STAND_IN =
  /^(?:your|my|insert|enter|change|replace)[-_ ]|^changeme$|\.\.\.|…|^<.*>$|^(?:sk-)?x{4,100}$/i;
/** The bare name of a variable, without `${` and `}`. */
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/** Whether a value is a key or a password by its name. */
export function isSecret(pointer: string): boolean {
  const slash = pointer.lastIndexOf('/');
  const key = pointer.slice(slash + 1);
  return SECRETS.has(key) || (pointer.endsWith('/headers', slash) && SECRET_HEADER.test(key));
}

/** Reports a secret that is none: a stand-in, or a reference that nothing looks up. */
function checkSecret(source: Source, pointer: string, text: string): void {
  if (!isSecret(pointer) || checkReference(source, pointer, text)) return;
  const key = segments(pointer).at(-1) ?? '';
  if (STAND_IN.test(text)) {
    const message = `${key} is a stand-in for the real value`;
    const write = `write "\${${variableOf(pointer)}}"`;
    const hint = `${write}, and set that environment variable to the real one`;
    source.fault(pointer, { code: 'placeholder', message, hint });
  } else if (VARIABLE_NAME.test(text)) reportUnexpanded(source, pointer, text);
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

/** Whether a text may be a secret by its form: a long one, or one with letters and digits. */
export function mayBeSecret(text: string): boolean {
  const isLong = text.length >= SECRET_CHARACTERS || /^(?=.*[a-z])(?=.*\d).{7,}$/i.test(text);
  return isKey(text) || (isLong && SECRET_FORM.test(text));
}

/** Reports a secret that is written `$${NAME}`, so that the name itself is sent. */
function checkEscaped(source: Source, pointer: string, { written = '' }: Mark): void {
  const [, escaped] = /^\$\$\{(\w+)\}$/.exec(written) ?? [];
  if (isSecret(pointer) && escaped !== undefined) reportUnexpanded(source, pointer, escaped);
}

/** Reports `${file:~/NAME}` where no file shows it: only a shell replaces ~. */
function checkHome(source: Source, pointer: string, { written = '' }: Mark): void {
  const [, path] = /\$\{file:~(\/[^}]*)\}/.exec(written) ?? [];
  if (path === undefined || !source.unread.has(pointer)) return;
  const message = 'the ~ of this path is not replaced by a home folder';
  const hint = `write the whole path, such as \${file:/home/USER${path}}`;
  source.faultAsWritten(pointer, { code: 'unreadable_file', message, hint });
}
