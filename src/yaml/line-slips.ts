import type { FaultDetails } from './source.js';

/** A mistake in a line that YAML cannot read, with its index in the line. */
export interface LineSlip {
  at: number;
  message: string;
  hint: string;
}

interface Form {
  form: RegExp;
  /** The part of the match that is at fault; else its beginning. */
  at?: string;
  message: string;
  hint: string | ((match: RegExpExecArray) => string);
}

const SECRET = /key|secret|token(?!s)|password|auth|credential|:\/\//i;

/** A hint with the corrected text; `otherwise` where the text could show a secret. */
export function corrected(line: string, text: string, otherwise: string): string {
  return SECRET.test(line) || text.length > 60 ? otherwise : `write ${text}`;
}

/** The first form that matches counts. */
const FORMS: readonly Form[] = [
  {
    form: /^(?:<{7}|={7}|>{7}|\|{7})(?:\s|$)/,
    message: 'a merge conflict is left in this file',
    hint: 'keep one of its sides, and remove the lines of <, = and >',
  },
  {
    form: /^\s*(?<at>\/\/|--\s|;)/,
    at: 'at',
    message: 'this is no comment',
    hint: 'a comment begins with #',
  },
  {
    form: /^\s*(?<at>[a-z_]+(?: [\w./~]+)?) \{\s*$/,
    at: 'at',
    message: 'a block of another language begins here',
    hint: 'in YAML a block is "KEY:", and its keys stand indented below it',
  },
  {
    form: /^\s*(?:- )?(?<at>[a-z_][\w-]*) (\{.*\}|\[.*\])\s*(?:#.*)?$/i,
    at: 'at',
    message: 'the colon is missing behind this key',
    hint: ({ 0: line, 1: key, 2: value }) =>
      corrected(line, `${key}: ${value}`, 'write KEY: VALUE'),
  },
  {
    form: /[“”„‘’«»]/,
    message: 'YAML does not know this quotation mark',
    hint: ({ input: line }) => {
      const name = /[“”„‘’](\$\{\w{1,100}\})[“”‘’]/.exec(line)?.[1];
      return name === undefined ? `write ' or " in its place` : `write "${name}"`;
    },
  },
  {
    form: /^\s*(?:- )?[\w.-]+\s*(?<at>[：﹕])/,
    at: 'at',
    message: 'this colon is one of Chinese or Japanese text',
    hint: 'write ": " in its place',
  },
  {
    form: /[\u00a0\u2000-\u200b\u202f\u3000\ufeff]/,
    message: 'a no-break space or another invisible character stands here',
    hint: 'type a plain space in its place',
  },
  {
    form: /^\s*(?<at>-(?:[A-Za-z_][\w-]*):)/,
    at: 'at',
    message: 'a dash needs a space behind it',
    hint: ({ groups }) => `write "- ${(groups?.['at'] ?? '').slice(1)}"`,
  },
  {
    form: /^\s*(?<at>-)([A-Za-z][\w-]*)\s*$/,
    at: 'at',
    message: 'a dash needs a space behind it',
    hint: (match) => `write "- ${match[2]}"`,
  },
  {
    form: /^\s*(?<at>[*+•])\s+\S/,
    at: 'at',
    message: 'an entry of a list begins with "- "',
    hint: 'write "-" in its place',
  },
  {
    form: /^\s*(?:- )?[\w-]*(?:key|secret|token):\s+(?<at>\[)\s*\$\{(\w+)\}\s*\]/,
    at: 'at',
    message: 'one value stands here, and no list',
    hint: (match) => `remove the brackets: write "\${${match[2]}}"`,
  },
  {
    form: /[{,]\s*[^"',]*:\s*(?<at>\$\{)(\w*)/,
    at: 'at',
    message: '${...} between { and } needs quotes',
    hint: (match) => `write "\${${match[2] ?? 'NAME'}}"`,
  },
  {
    form: /[{,]\s*[\w-]+:\s+(?<at>[\w.-]+:\s+[^"'{}[\],]*[^\s"'{}[\],])\s*[,}]/,
    at: 'at',
    message: 'a second ": " stands in this value',
    hint: ({ 0: line, groups }) =>
      corrected(line, `'${groups?.['at'] ?? ''}'`, 'put the value in quotes'),
  },
  {
    form: /[{,]\s*[\w-]+:\s+(?<at>\$[\w.]*)(\[[^\]\s]*\][\w.[\]]*)/,
    at: 'at',
    message: 'between { and } a path with brackets needs quotes',
    hint: ({ 1: path, 2: rest }) =>
      rest === '[*]' ? `write ${path}: a list stands for all its items` : `write '${path}${rest}'`,
  },
  { form: /^\s*(?<at>\*)\s*:/, at: 'at', message: 'the key * needs quotes', hint: 'write "*"' },
  {
    form: /^\s*(?:cors|allow):\s*(?<at>\*)\s*$/,
    at: 'at',
    message: 'a bare * begins an alias of YAML, and a list is wanted here',
    hint: `write ['*']`,
  },
  {
    form: /[[,:]\s*(?<at>\*)\s*(?:[\],}]|$)/,
    at: 'at',
    message: 'a bare * begins an alias of YAML',
    hint: `write '*'`,
  },
  {
    form: /:\s+(?<at>%)([A-Za-z_]\w*)%/,
    at: 'at',
    message: '% cannot begin a value',
    hint: (match) => `write "\${${match[2]}}"`,
  },
  {
    form: /^\s*(?<at>[\w.-]+)\s*=\s*(\S.*)$/,
    at: 'at',
    message: 'a key ends with ": ", not with "="',
    hint: ({ 0: line, 1: key, 2: value }) =>
      corrected(line, `${key}: ${value}`, 'write KEY: VALUE'),
  },
  {
    form: /^\s*(?:- )?(?<at>[A-Za-z_][\w-]*):([^\s:/]\S*)\s*$/,
    at: 'at',
    message: 'the colon needs a space behind it',
    hint: ({ 0: line, 1: key, 2: value }) =>
      corrected(line, `${key}: ${value}`, 'write KEY: VALUE'),
  },
  {
    form: /^\s*(?:- )?(?<at>[A-Za-z_][\w-]*)\s+(\S+)\s*$/,
    at: 'at',
    message: 'the colon is missing behind this key',
    hint: ({ 0: line, 1: key, 2: value }) =>
      corrected(line, `${key}: ${value}`, 'write KEY: VALUE'),
  },
];

/** The mistake in a line that YAML cannot read; the error of the parser does not tell it. */
export function slipOf(line: string): LineSlip | undefined {
  for (const { form, at, message, hint } of FORMS) {
    const match = form.exec(line);
    if (!match) continue;
    const part = at === undefined ? '' : (match.groups?.[at] ?? '');
    const inside = part === '' ? 0 : match[0].indexOf(part);
    const text = typeof hint === 'string' ? hint : hint(match);
    return { at: match.index + inside, message, hint: text };
  }
  return undefined;
}

/** The warning for a text in quotes that YAML takes for letters; undefined for any other text. */
export function curlyQuotes(text: string): FaultDetails | undefined {
  if (!/^[“„‘]/.test(text) || !/[“”‘’]$/.test(text)) return undefined;
  const message = 'typographic quotes are no quotes of YAML: they are part of the text';
  return { code: 'yaml', message, hint: `write ' or " in their place`, severity: 'warning' };
}

/** The reason why a whole text cannot be YAML; undefined where it may be. */
export function notText(text: string): Omit<FaultDetails, 'code'> | undefined {
  if (text.includes('\0')) {
    const isWide = /^[^\0]{0,2}(?:[^\0]\0){8}/u.test(text.slice(0, 40));
    return isWide
      ? { message: 'the file is in UTF-16', hint: 'save it as UTF-8' }
      : { message: 'the file is not text', hint: 'name a gateway.yaml: tollgate init writes one' };
  }
  if (!text.includes('\n') && text.includes('\r')) {
    const message = 'the lines of the file end as on an old Macintosh, with CR alone';
    return { message, hint: 'save it with the line ends LF' };
  }
  return undefined;
}
