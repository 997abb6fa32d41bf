/**
 * Names in other programs and in earlier versions of this one, with ours. The two share too few
 * letters to be found as typing errors.
 */
const RENAMED: Readonly<Record<string, readonly string[]>> = {
  most: ['max'],
  pictures: ['images'],
  pricing: ['price'],
  perpicture: ['per_image'],
  perphoto: ['per_image'],
  costs: ['price'],
  rates: ['price'],
  virtualkey: ['api_key'],
  text: ['chat'],
  llm: ['chat'],
  completion: ['chat'],
  completions: ['chat'],
  functions: ['tools'],
  functioncalling: ['tools'],
  imageinput: ['vision'],
  images: ['image', 'images'],
  imagegeneration: ['image'],
  videogeneration: ['video'],
  tts: ['speech'],
  texttospeech: ['speech'],
  stt: ['transcription'],
  asr: ['transcription'],
  whisper: ['transcription'],
  speechtotext: ['transcription'],
  pdf: ['file'],
  documents: ['file'],
  apibase: ['base_url'],
  baseuri: ['base_url'],
  endpoint: ['base_url'],
  url: ['base_url'],
  token: ['api_key'],
  apitoken: ['api_key'],
  secret: ['api_key', 'client_secret'],
  organisation: ['owner'],
  ownedby: ['owner'],
  vendor: ['owner'],
  maxinputtokens: ['context'],
  contextlength: ['context'],
  contextwindow: ['context'],
  maxcontext: ['context'],
  maxoutput: ['max_tokens'],
  maxoutputtokens: ['max_tokens'],
  maxcompletiontokens: ['max_tokens'],
  sound: ['audio'],
  withsound: ['audio'],
  withaudio: ['audio'],
  withoutaudio: ['silent'],
  withoutsound: ['silent'],
  noaudio: ['silent'],
  nosound: ['silent'],
  mute: ['silent'],
  muted: ['silent'],
  auto: ['list'],
  default: ['list'],
  catalog: ['list'],
  2160: ['4k'],
  '2160p': ['4k'],
  uhd: ['4k'],
  hd: ['hd', '1080p'],
  hdquality: ['hd'],
  highquality: ['hd'],
  lowquality: ['low'],
  hold: ['balance'],
  charge: ['meter'],
  bill: ['meter'],
  billing: ['meter'],
  fullhd: ['1080p'],
  stop: ['abort'],
  cancel: ['abort'],
  continue: ['drain'],
  verbose: ['debug'],
  warning: ['warn'],
  critical: ['fatal'],
  pretty: ['text'],
  console: ['text'],
  plain: ['text'],
};

/**
 * The nearest candidate: the one with the fewest typing errors, if they are few for its length.
 * Case and `_`, `-`, `.` make no difference, and a part may stand for the whole: `apiKey` and `key`
 * find `api_key`, `input` finds `input_per_million`.
 */
export function nearestWord(word: string, candidates: readonly string[]): string | undefined {
  const letters = plain(word);
  if (letters === '' || letters.length > 64) return undefined;
  const names = Object.hasOwn(RENAMED, letters) ? RENAMED[letters] : undefined;
  const renamed = names?.find((name) => candidates.includes(name));
  let nearest: string | undefined;
  let fewest = Infinity;
  for (const candidate of candidates) {
    const errors = countErrors(word, candidate);
    if (errors < fewest) [nearest, fewest] = [candidate, errors];
  }
  return renamed === undefined || fewest <= 1 ? nearest : renamed;
}

/** Words that many variables have in their names: the kind of the value, not its owner. */
const SHARED_WORDS = 'api key apikey token secret password access id url base'.split(' ');

/**
 * The nearest variable of the same owner: `ACME_KEY` finds `ACME_API_KEY`, and never `LAB_API_KEY`,
 * which is the key of another provider.
 */
export function nearestVariable(name: string, variables: readonly string[]): string | undefined {
  const owner = ownerIn(name);
  const isOwn = (variable: string): boolean => {
    const other = ownerIn(variable);
    // Short names that differ in one letter may well be two owners.
    return distance(owner, other) <= Math.floor(Math.max(owner.length, other.length) / 5);
  };
  const same = variables.find((variable) => plain(variable) === plain(name));
  return same ?? nearestWord(name, variables.filter(isOwn));
}

/** `acme` of `ACME_API_KEY`. A short first part is an owner, however much it is like `API`. */
function ownerIn(variable: string): string {
  const isShared = (part: string, at: number): boolean => {
    const long = at === 0 ? 5 : 3;
    return SHARED_WORDS.some(
      (word) => word === part || (word.length >= long && distance(word, part) === 1),
    );
  };
  return partsOf(variable)
    .filter((part, at) => !isShared(part, at))
    .join('');
}

/** A hint lists this many names, and counts the rest. */
const MAX_LISTED = 12;

/** A hint for a word that should be one of a few names. */
export function nameHint(word: string, names: readonly string[]): string {
  const near = nearestWord(word, names);
  if (near !== undefined) return `did you mean "${near}"?`;
  if (names.length === 0) return 'none is defined';
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  return `known: ${names.slice(0, MAX_LISTED).join(', ')}${more}`;
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[\s_.-]/g, '');
}

/** The number of typing errors, or a larger figure for names that share their parts. */
function countErrors(word: string, candidate: string): number {
  const [wrong, right] = [plain(word), plain(candidate)];
  const longer = Math.max(wrong.length, right.length);
  const allowed = Math.max(1, Math.floor(longer / 3));
  if (Math.abs(wrong.length - right.length) <= allowed) {
    const errors = distance(wrong, right);
    if (errors <= allowed && errors < longer) return errors;
  }
  const shorter = Math.min(wrong.length, right.length);
  const begins = shorter >= 4 && (wrong.startsWith(right) || right.startsWith(wrong));
  const related = begins || sharesParts(word, candidate);
  // Two names that begin alike are nearer than two that end alike.
  const bonus = begins ? 2 : 0;
  return related ? allowed + Math.abs(wrong.length - right.length) - bonus : Infinity;
}

/** Whether one name has all parts of the other, as `api_key` and `key`, or shares 60% of them. */
function sharesParts(word: string, candidate: string): boolean {
  const [parts, others] = [partsOf(word), partsOf(candidate)];
  const shared = parts.filter((part) => others.includes(part));
  const isLong = shared.join('').length >= 3;
  const hasAll = shared.length === Math.min(parts.length, others.length);
  return isLong && (hasAll || shared.length >= Math.max(parts.length, others.length) * 0.6);
}

function partsOf(word: string): string[] {
  return word
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[\s_./-]+/);
}

/** Damerau-Levenshtein: insertions, deletions, replacements and swaps of neighbours. */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
