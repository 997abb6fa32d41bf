import { isExtension, segments, type Mark, type Source } from '../yaml/source.js';

/** Finds variables in the form of other programs, secrets in the file, and stand-ins for them. */
export function checkTexts(source: Source): void {
  for (const [pointer, mark] of source.marks) {
    if (mark.text === undefined || isExtension(pointer)) continue;
    if (mark.expanded) checkDefault(source, pointer, mark);
    else if (!checkUnexpanded(source, pointer, mark.text)) checkSecret(source, pointer, mark.text);
  }
}

/** How each of these forms begins. Most texts begin otherwise, and are asked no further. */
const FOREIGN_START = /^(?:[$%{]|env[:.]|os\.|vault:)/;

const NAME = '([A-Za-z_][A-Za-z0-9_]{0,99})';

/** The ways in which other programs write a variable of the environment. */
const FOREIGN_VARIABLES = [
  `^\\$${NAME}$`,
  `^\\$\\(${NAME}\\)$`,
  `^(?:os\\.environ/|os\\.environ\\.|env[:.])${NAME}$`,
  `^%${NAME}%$`,
  `^\\{\\$${NAME}\\}$`,
  `^\\{env\\.${NAME}\\}$`,
  `^\\$?\\{\\{ ?(?:\\.?[Ee]nv\\.|secrets\\.|vars\\.)?${NAME} ?\\}\\}$`,
  `^\\{?vault://env/([\\w-]{1,100})\\}?$`,
].map((form) => new RegExp(form));

/** Whether the text is a variable that nothing replaces, which is a fault. */
function checkUnexpanded(source: Source, pointer: string, text: string): boolean {
  if (!FOREIGN_START.test(text) || pointer.includes('/set/')) return false;
  const name = FOREIGN_VARIABLES.map((form) => form.exec(text)?.[1]).find(Boolean);
  if (name === undefined) return false;
  tellUnexpanded(source, pointer, name);
  return true;
}

function tellUnexpanded(source: Source, pointer: string, name: string): void {
  const message = `${source.word(pointer)} is not expanded: it is sent as it stands`;
  const variable = name.includes('-') ? name.toUpperCase().replaceAll('-', '_') : name;
  source.fault(pointer, { code: 'not_expanded', message, hint: `write "\${${variable}}"` });
}

const SECRETS: ReadonlySet<string> = new Set([
  'api_key',
  'client_secret',
  'secret_access_key',
  'session_token',
  'secret',
]);
/** Headers of a provider in which keys travel. */
const SECRET_HEADER = /authorization|api-?key|token|secret/i;
/** A text that is shorter is no secret that a provider gives. */
const SECRET_CHARACTERS = 20;
const SECRET_FORM = /^(?:(?:Bearer|Basic|Key|Token) )?[\w.+/=-]+$/;
/** How providers begin their keys, which are not always long where somebody tries things out. */
const KEY_FORM = /^(?:Bearer )?(?:sk|pk|rk|gsk|hf|r8)[-_][\w-]{8,}$/;
/** What guides and forms write where the key belongs. */
const STAND_IN = /^(?:your|my|insert|enter|change)[-_ ]|\.\.\.|…|^<.*>$|^(?:sk-)?x{4,100}$/i;
/** The name of a variable, where the variable was meant. */
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

function isSecret(pointer: string): boolean {
  const slash = pointer.lastIndexOf('/');
  const key = pointer.slice(slash + 1);
  return SECRETS.has(key) || (pointer.endsWith('/headers', slash) && SECRET_HEADER.test(key));
}

/** Warns of a secret that stands in the file itself. The message never shows it. */
function checkSecret(source: Source, pointer: string, text: string): void {
  if (!isSecret(pointer)) return;
  const key = segments(pointer).at(-1) ?? '';
  if (STAND_IN.test(text)) {
    const message = `${key} is a stand-in for the real value`;
    const hint = 'write "${NAME}", and set that environment variable to the real one';
    source.fault(pointer, { code: 'placeholder', message, hint });
  } else if (VARIABLE_NAME.test(text)) tellUnexpanded(source, pointer, text);
  else if (KEY_FORM.test(text) || (isLong(text) && SECRET_FORM.test(text))) {
    tellClear(source, pointer, 'write "${NAME}" and set that environment variable');
  }
}

function isLong(text: string): boolean {
  return text.length >= SECRET_CHARACTERS;
}

/** A default of a variable stands in the file as well. */
function checkDefault(source: Source, pointer: string, { written = '' }: Mark): void {
  if (!isSecret(pointer)) return;
  const [, name, standby = ''] = /\$\{(\w+):-([^}]*)\}/.exec(written) ?? [];
  if (!KEY_FORM.test(standby) && !(isLong(standby) && SECRET_FORM.test(standby))) return;
  tellClear(source, pointer, `write "\${${name}}", without the default`);
}

function tellClear(source: Source, pointer: string, way: string): void {
  const key = segments(pointer).at(-1) ?? '';
  const message = `${key} stands in clear text in this file, where whoever reads the file has it`;
  const hint = `${way}, or ${'${file:PATH}'}`;
  source.fault(pointer, { code: 'secret_in_clear', message, hint, severity: 'warning' });
}
