/** Words of other times and programs that are too different from ours to be typing errors. */
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
  maxinputtokens: ['context'],
  contextlength: ['context'],
  contextwindow: ['context'],
  maxcontext: ['context'],
  maxoutput: ['max_tokens'],
  maxoutputtokens: ['max_tokens'],
  maxcompletiontokens: ['max_tokens'],
  sound: ['audio'],
  auto: ['list'],
  default: ['list'],
  catalog: ['list'],
  2160: ['4k'],
  '2160p': ['4k'],
  uhd: ['4k'],
  hd: ['hd', '1080p'],
  fullhd: ['1080p'],
  stop: ['abort'],
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
  const wrong = plain(word);
  if (wrong === '' || wrong.length > 64) return undefined;
  const ours = Object.hasOwn(RENAMED, wrong) ? RENAMED[wrong] : undefined;
  const today = ours?.find((one) => candidates.includes(one));
  let best: string | undefined;
  let fewest = Infinity;
  for (const candidate of candidates) {
    const slips = countSlips(word, candidate);
    if (slips < fewest) [best, fewest] = [candidate, slips];
  }
  return today === undefined || fewest <= 1 ? best : today;
}

/** Words in the names of many variables, which say what a variable holds and not for whom. */
const SHARED_WORDS = ['api', 'key', 'token', 'secret', 'password', 'access', 'id', 'url', 'base'];

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
  return nearestWord(name, variables.filter(isOwn));
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

/** Names that a hint lists before it counts the rest. */
const SHOWN = 12;

/** A hint for a word that should be one of a few names. */
export function nameHint(word: string, names: readonly string[]): string {
  const near = nearestWord(word, names);
  if (near !== undefined) return `did you mean "${near}"?`;
  if (names.length === 0) return 'none is defined';
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
  return `known: ${names.slice(0, SHOWN).join(', ')}${more}`;
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[\s_.-]/g, '');
}

function countSlips(word: string, candidate: string): number {
  const [wrong, right] = [plain(word), plain(candidate)];
  const longer = Math.max(wrong.length, right.length);
  const allowed = Math.max(1, Math.floor(longer / 3));
  if (Math.abs(wrong.length - right.length) <= allowed) {
    const slips = distance(wrong, right);
    if (slips <= allowed && slips < longer) return slips;
  }
  const shorter = Math.min(wrong.length, right.length);
  const begins = shorter >= 4 && (wrong.startsWith(right) || right.startsWith(wrong));
  const related = begins || sharesParts(word, candidate);
  // How a name begins says more of it than how it ends.
  const bonus = begins ? 2 : 0;
  return related ? allowed + Math.abs(wrong.length - right.length) - bonus : Infinity;
}

/** Whether one has all parts of the other, as `key` and `api_key`, or most parts are equal. */
function sharesParts(word: string, candidate: string): boolean {
  const [some, others] = [partsOf(word), partsOf(candidate)];
  const shared = some.filter((part) => others.includes(part));
  const enough = shared.join('').length >= 3;
  const most = Math.max(some.length, others.length) * 0.6;
  const all = Math.min(some.length, others.length);
  return enough && (shared.length >= most || shared.length === all);
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
