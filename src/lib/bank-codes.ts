/** The number of characters of an IBAN in each country, from the IBAN registry. */
const LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 ' +
    'DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 ' +
    'IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 ' +
    'MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 ' +
    'SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** The length of an IBAN of a country, by its code in capitals; undefined if it has no IBANs. */
export function ibanLength(country: string): number | undefined {
  return LENGTHS.get(country);
}

/** Whether the check digits of an IBAN are right. The IBAN has only capitals and digits. */
export function isIban(iban: string): boolean {
  let rest = 0;
  for (const sign of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(sign, 36);
    rest = (rest * (value < 10 ? 10 : 100) + value) % 97;
  }
  return rest === 1;
}

/** The minimum and maximum of digits of a card number. */
export const MIN_CARD_DIGITS = 13;
const MAX_CARD_DIGITS = 19;
/** The first digits of the card numbers of known networks. */
const CARD_START = /^(?:4|5|6|2[2-7]|3[0-8])/u;

/** Whether the card numbers of a known network begin with these digits. */
export function isCardStart(digits: string): boolean {
  return CARD_START.test(digits);
}

/**
 * Whether digits are a card number: its length, its network and its check digit (Luhn) are right.
 */
export function isCard(digits: string): boolean {
  const { length } = digits;
  if (length < MIN_CARD_DIGITS || length > MAX_CARD_DIGITS || !isCardStart(digits)) return false;
  let sum = 0;
  for (let at = 0; at < length; at += 1) {
    const digit = Number(digits[length - 1 - at]);
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
