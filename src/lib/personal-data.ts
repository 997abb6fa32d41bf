import ipaddr from 'ipaddr.js';
import { ibanLength, isCard, isCardStart, isIban, MIN_CARD_DIGITS } from './bank-codes.js';
import type { Range, TextPattern } from './text-search.js';

/** The longest match is an email address: 64 characters, an at sign and ten labels of 64. */
const REACH = 1_024;

/** Only letters with cases count: text in a script without spaces would run into an address. */
const SIGN = /[@＠]|%40/gu;
const LOCAL = /(?:[\p{Lu}\p{Ll}\d_][\p{Lu}\p{Ll}\p{M}\d._%+'-]{0,63}|"[^"\n]{1,62}")$/u;
const DOMAIN =
  /(?:[\p{Lu}\p{Ll}\p{M}\d-]{1,63}\.){1,10}(?:[Xx][Nn]--[\w-]{1,59}|[\p{Lu}\p{Ll}]{2,63})/uy;
const LOCAL_CHARACTERS = 64;

const IBAN = /(?<![\p{L}\d])[A-Z]{2}\d{2}(?:[ -]?[A-Z\d]){11,29}/giu;
const CARD = /(?<![\p{L}\d]|\d[.,])[2-6](?:[ -]?\d){12,18}/gu;
const IP4 = /(?<![\p{L}\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\p{L}\d]|\.\d)/gu;
const IP6 = /(?<![\p{L}\d:.])[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?:\.\d{1,3}){0,3}(?![\p{L}\d])/giu;

/** Spaces and dashes that are not those of a keyboard. */
const OTHER_SPACE = /[\u00a0\u2007\u202f]/gu;
const OTHER_DASH = /[\u2010-\u2014\u2212]/gu;
const WITH_CODE =
  /(?<![\p{L}\d+])\+[1-9]\d{0,2}[ ./-]{0,3}(?:\(\d{1,5}\)[ ./-]{0,3})?\d(?:[ ./-]{0,3}\d){5,12}/gu;
const WITH_ZEROS = /(?<![\p{L}\d.,:+-])00[1-9](?:[ ./-]{0,3}\d){7,13}(?![\p{L}\d])/gu;
const WITH_ZERO = /(?<![\p{L}\d.,:/+-])0[1-9](?:[ ./-]{0,3}\d){7,10}(?![\p{L}\d])/gu;
const IN_BRACKETS = /\(0\d{1,5}\)[ ./-]{0,3}\d(?:[ ./-]{0,3}\d){4,8}(?![\p{L}\d])/gu;
const AMERICAN =
  /(?<![\p{L}\d.-])(?:1[ .-])?(?:\([2-9]\d\d\)[ .-]?|[2-9]\d\d[ .-])\d{3}[ .-]\d{4}(?![\p{L}\d])/gu;
const DATE = /^\d\d[./-](?:\d\d[./-](?:\d{4}(?!\d)|\d\d(?![ ./-]?\d))|\d{4}(?!\d))/u;

const RANGES = { email: emails, iban: ibans, card: cards, ip: addresses, phone: phones };

/** The patterns of personal data by their kind. The most certain kinds come first. */
export const PERSONAL_DATA: ReadonlyMap<string, TextPattern> = new Map(
  Object.entries(RANGES).map(([kind, ranges]) => [kind, { kind, reach: REACH, ranges }]),
);

/** A copy of a pattern that searches from an index. */
function from(pattern: RegExp, at: number): RegExp {
  const own = new RegExp(pattern);
  own.lastIndex = at;
  return own;
}

/** Looks back and ahead from each at sign, since a text has few of them. */
function* emails(text: string, at: number): Generator<Range> {
  for (const { index, 0: sign } of text.matchAll(from(SIGN, at))) {
    const local = LOCAL.exec(text.slice(Math.max(0, index - LOCAL_CHARACTERS), index))?.[0];
    if (local === undefined) continue;
    DOMAIN.lastIndex = index + sign.length;
    if (DOMAIN.test(text)) yield [index - local.length, DOMAIN.lastIndex];
  }
}

/** Takes as many characters of a match as an IBAN of its country has. */
function* ibans(text: string, at: number): Generator<Range> {
  for (const { index, 0: match } of text.matchAll(from(IBAN, at))) {
    const length = ibanLength(match.slice(0, 2).toUpperCase()) ?? Infinity;
    const end = endOfSigns(match, length);
    const iban = match.slice(0, end).replaceAll(/[ -]/gu, '').toUpperCase();
    if (iban.length === length && endsAt(text, index + end) && isIban(iban)) {
      yield [index, index + end];
    }
  }
}

/** The index after a number of letters and digits. Spaces and dashes do not count. */
function endOfSigns(text: string, signs: number): number {
  let [at, left] = [0, signs];
  for (; at < text.length && left > 0; at += 1) if (text[at] !== ' ' && text[at] !== '-') left -= 1;
  return at;
}

function endsAt(text: string, at: number): boolean {
  return !/^[\p{L}\d]/u.test(text.slice(at, at + 2));
}

/** Takes the longest card number of each run of digits. Other digits may follow it. */
function* cards(text: string, at: number): Generator<Range> {
  const pattern = from(CARD, at);
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const { index, 0: digits } = match;
    const end = endOfCard(digits, text, index);
    if (end > 0) yield [index, index + end];
    pattern.lastIndex = index + Math.max(end, 1);
  }
}

/** The end of the longest card number at the start of `digits`; 0 if there is none. */
function endOfCard(digits: string, text: string, index: number): number {
  const plain = digits.replaceAll(/\D/gu, '');
  if (!isCardStart(plain)) return 0;
  for (let length = plain.length; length >= MIN_CARD_DIGITS; length -= 1) {
    if (!isCard(plain.slice(0, length))) continue;
    const end = endOfSigns(digits, length);
    if (endsAt(text, index + end)) return end;
  }
  return 0;
}

function* addresses(text: string, at: number): Generator<Range> {
  const all: Range[] = [];
  for (const { index, 0: match } of text.matchAll(from(IP6, at))) {
    // A colon behind an address belongs to the sentence.
    const address = match.endsWith(':') && !match.endsWith('::') ? match.slice(0, -1) : match;
    if (/\d/u.test(address) && ipaddr.IPv6.isValid(address)) {
      all.push([index, index + address.length]);
    }
  }
  for (const { index, 0: match } of text.matchAll(from(IP4, at))) {
    if (match.split('.').every((part) => Number(part) <= 255)) {
      all.push([index, index + match.length]);
    }
  }
  yield* inOrder(all);
}

function* phones(text: string, at: number): Generator<Range> {
  const plain = text.replaceAll(OTHER_SPACE, ' ').replaceAll(OTHER_DASH, '-');
  const all: Range[] = [...national(plain, at)];
  for (const pattern of [WITH_CODE, WITH_ZEROS, IN_BRACKETS, AMERICAN]) {
    for (const { index, 0: match } of plain.matchAll(from(pattern, at))) {
      all.push([index, index + match.length]);
    }
  }
  yield* inOrder(all);
}

/** Finds numbers that begin with a zero. Many dates do too, and are skipped. */
function* national(text: string, at: number): Generator<Range> {
  const pattern = from(WITH_ZERO, at);
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const { index, 0: digits } = match;
    const date = DATE.exec(digits)?.[0];
    if (date === undefined) yield [index, index + digits.length];
    else pattern.lastIndex = index + date.length;
  }
}

function inOrder(ranges: Range[]): Range[] {
  return ranges.sort(([one], [other]) => one - other);
}
