/** The facts of a conversation from which the simulator makes its answer. */
export interface PromptFacts {
  /** The last text of the user. */
  words: string;
  images: number;
  sounds: number;
}

const GREETINGS = [
  'A coin rings in the tray, the barrier lifts, and here is your answer.',
  'Good day, traveller; the keeper of this gate has considered your request.',
  'You have reached a model made of nothing but arithmetic and good manners.',
  'The lamp is lit, the ledger is open, and I am pleased to be of service.',
];
const MUSINGS = [
  'Every road looks shorter once somebody has counted its stones.',
  'I know no facts, but I know how facts are usually arranged in a sentence.',
  'Bridges, like budgets, are held up mainly by what was settled beforehand.',
  'The honest toll keeper writes the sum down before the cart has passed.',
  'A river does not ask for a receipt, which is why rivers are so often wrong.',
  'Nothing I say has been thought by anyone, though some of it sounds that way.',
  'It takes two people to disagree about a price and only one to pay it.',
  'The night shift teaches patience, arithmetic and the names of all the horses.',
];
const FAREWELLS = [
  'Safe travels, and mind the step.',
  'Ask me the same again and I shall say the same again, word for word.',
  'That will be all from this side of the gate.',
  'Your change, should there be any, is in the ledger.',
];

const EXCERPT_WORDS = 12;

/** A few sentences, always the same ones for the same seed and the same facts. */
export function fakeSentences(seed: number, facts: PromptFacts): string {
  const first = seed % MUSINGS.length;
  // A step that shares no factor with the list's length never comes back to the same musing.
  const step = 1 + 2 * (Math.floor(seed / 7) % 3);
  return [
    pick(GREETINGS, seed),
    ...remarks(facts),
    ...[0, 1, 2].map((turn) => pick(MUSINGS, first + turn * step)),
    pick(FAREWELLS, Math.floor(seed / 11)),
  ].join(' ');
}

function remarks({ words, images, sounds }: PromptFacts): string[] {
  const excerpt = words.trim().split(/\s+/u).slice(0, EXCERPT_WORDS).join(' ');
  return [
    ...(excerpt === '' ? [] : [`You said: “${excerpt}”.`]),
    ...(images === 0 ? [] : [`I looked at ${count(images, 'image')} and admired the frame.`]),
    ...(sounds === 0 ? [] : [`I listened to ${count(sounds, 'recording')} with one ear.`]),
  ];
}

function count(number: number, noun: string): string {
  return number === 1 ? `one ${noun}` : `${number} ${noun}s`;
}

function pick(list: readonly string[], at: number): string {
  return list[at % list.length] ?? '';
}

/** FNV-1a: small, and the same on every machine. Below 2^32. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return value;
}
