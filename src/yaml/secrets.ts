/** The keys of providers by their beginnings, which tell them from other words. */
const KEY_BEGINNINGS = [
  String.raw`sk[-_]`,
  String.raw`(?:pk|rk|gsk|hf|r8)[-_](?=[\w-]{0,200}[\dA-Z])`,
  String.raw`(?:xai|csk|pplx|nvapi|glpat|gh[pousr]|github_pat|xox[abp])[-_](?=[\w-]{0,200}\d)`,
  String.raw`AIza(?=[\w-]{30})`,
].join('|');

const KEY = `(?:${KEY_BEGINNINGS})[\\w.-]{8,200}`;

const WHOLE_KEY = new RegExp(`^(?:Bearer )?${KEY}$`);

/** Whether a text has the form of a provider's key. */
export function isKey(text: string): boolean {
  return WHOLE_KEY.test(text);
}

const NAMES = 'key|key_id|secret|token|password|authorization|cookie|honeycomb-team';
const SECRET_NAME = `(?<!_cost_per_|_price_per_|max_)(?:${NAMES})`;
const SCHEME = '(?:(?:Bearer|Basic|Key|Token) )?';
const BARE_SECRET = String.raw`${SCHEME}[^\s,}]{1,200}`;

/** A secret behind its name, as lines of files have it: the text before it, and the secret. */
const NAMED = new RegExp(
  `(${SECRET_NAME}["']?\\s{0,20}[:=]\\s{0,20})("[^"]{0,200}"?|'[^']{0,200}'?|${BARE_SECRET})`,
  'gi',
);

/** Secrets that need no name: the text before each, and the secret. */
const FORMS = [
  // The password of a URL, also of one with a wrong scheme. It may hold an @ itself.
  /([\w.%+~/-]{0,100}:)(?!(?:[\w+.-]{0,20}:)?\/)(\S{1,600})(?=@)/g,
  /(https?:\/\/[^\s?#"']{1,300}[?#])([^\s"']{0,300}[^\s"',}\]])/gi,
  /((?:hooks\.slack\.com|discord(?:app)?\.com\/api\/webhooks)\/)([^\s"']{0,300}[^\s"',}\]])/gi,
  new RegExp(`((?<![\\w-]))(${KEY})`, 'g'),
  // The colon is missing behind the name.
  /((?:key|secret|token|password) )((?=[\w.-]{0,100}\d)[\w.-]{16,200})/gi,
];

/** What stands in the place of a secret, in the form of this program or of another. */
const REFERENCES = [
  // A default of a variable is a secret itself.
  String.raw`\$?\$\{(?!\w+(?::?[-=+]|(?<!\{file):[^?]))`,
  String.raw`\$[(\w]|%\w+%|\$?\{\{|\{[$e]|os\.|process\.|env[:.[(]`,
  String.raw`\{?(?:vault|op|aws|gcp|azure|ssm|arn|keyvault|doppler):`,
  String.raw`(?:file:(?:\/\/)?|@)?(?:\.{1,2}|~|\/(?:run|etc|var|home|mnt|opt|secrets))\/`,
  String.raw`(?:PASSWORD|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["']?$`,
];
const REFERENCE = new RegExp(`^["'“‘„]?${SCHEME}(?:${REFERENCES.join('|')})`);

function dots(secret: string): string {
  return REFERENCE.test(secret) ? secret : '·'.repeat(secret.length);
}

function hideForms(text: string): string {
  return FORMS.reduce(
    (shown, form) =>
      shown.replaceAll(form, (_, before: string, secret: string) => before + dots(secret)),
    text,
  );
}

/** A line of a file with dots in place of each secret, as many as it has characters. */
export function withoutSecrets(line: string): string {
  return hideForms(
    line.replaceAll(NAMED, (_, before: string, secret: string) => before + dots(secret)),
  );
}

/** A sentence about a line of a file, without the secrets of that line or of any other. */
export function hideSecrets(sentence: string, line: string): string {
  const named = [...line.matchAll(NAMED)].map(([, , secret = '']) => secret);
  const secrets = named.filter((one) => !REFERENCE.test(one)).map(bare);
  return hideForms(secrets.filter(isTelling).reduce(hide, sentence));
}

/** A secret without quotes, the scheme before it, and the variable whose default it is. */
function bare(secret: string): string {
  const text = secret.replaceAll(/^["']|["']$/g, '').replace(/^(?:Bearer|Basic|Key|Token) /i, '');
  return text.replace(/^\$\{\w{1,100}:?[-=+]?/, '');
}

/** Shorter secrets, and plain words, would be found within words of the sentence. */
function isTelling(secret: string): boolean {
  return secret.length >= 16 || /^(?=.*[A-Za-z])(?=.*\d).{7,}$/.test(secret);
}

/** A sentence may show the beginning of a long text alone. */
const BEGINNING = 7;

function hide(sentence: string, secret: string): string {
  const written = JSON.stringify(secret).slice(1, -1);
  const at = sentence.indexOf(written.slice(0, BEGINNING));
  if (at < 0) return sentence;
  let end = at;
  while (end - at < written.length && sentence[end] === written[end - at]) end += 1;
  const rest = hide(sentence.slice(end), secret);
  return `${sentence.slice(0, at)}${'·'.repeat(end - at)}${rest}`;
}
