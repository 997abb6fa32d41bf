import { pointer as join, type Source, label } from '../yaml/source.js';

/** As browsers write it: a scheme and a host, for pages of the web without the default port. */
const ORIGIN = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#@*]{1,260}$/u;

/** Reads a list of origins; `*` stands for all. An entry that no browser would send is a fault. */
export function readOrigins(
  source: Source,
  pointer: string,
  texts: readonly (string | undefined)[],
): string[] {
  return texts.flatMap((text, i) => {
    if (text === undefined) return [];
    if (text === '*' || isOrigin(text)) return [text];
    const place = pointer + join(i);
    const message = `${label(pointer)}: ${source.word(place)} is not an origin`;
    const host = /^[\w-]+(?:\.[\w-]+)+(?::\d+)?$/.test(text) ? `https://${text}` : text;
    const near = URL.canParse(host) ? new URL(host).origin : '';
    const isWild = text !== '*' && text.includes('*') && !source.hides(place);
    const such = "such as https://app.example.com, or '*' for all";
    const hint =
      !isOrigin(near) || source.hides(place)
        ? `${isWild ? 'an origin has no * in it: write each, ' : ''}${such}`
        : `did you mean ${near}?`;
    source.fault(place, { code: 'bad_origin', message, hint });
    return [];
  });
}

function isOrigin(text: string): boolean {
  if (!ORIGIN.test(text)) return false;
  return !/^https?:/u.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}
