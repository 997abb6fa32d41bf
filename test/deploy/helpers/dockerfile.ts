/** One instruction of a Dockerfile, its continued lines joined. */
export interface Instruction {
  name: string;
  text: string;
}

/** The instructions from one FROM up to the next; `FROM` itself is the first. */
export interface Stage {
  image: string;
  alias: string | undefined;
  instructions: Instruction[];
}

export function stagesOf(dockerfile: string): Stage[] {
  const stages: Stage[] = [];
  for (const { name, text } of instructionsOf(dockerfile)) {
    const [, image = '', alias] = /^(\S+)(?: AS (\S+))?$/u.exec(text) ?? [];
    if (name === 'FROM') stages.push({ image, alias, instructions: [] });
    else stages.at(-1)?.instructions.push({ name, text });
  }
  return stages;
}

function instructionsOf(dockerfile: string): Instruction[] {
  const bare = dockerfile
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n');
  return bare
    .replaceAll(/\\\n\s*/gu, '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+)\s+(.+)$/u.exec(line) ?? [];
      return { name, text };
    });
}

/** The words of an instruction in exec form, such as `CMD ["serve"]`; fails for a shell form. */
export function wordsOf(text: string): string[] {
  return JSON.parse(text.slice(text.indexOf('['))) as string[];
}

/** The last instruction of that name; empty where there is none. */
export function lastOf({ instructions }: Stage, name: string): string {
  return instructions.findLast((one) => one.name === name)?.text ?? '';
}

/** `ENV A=b C=d` of a stage, all together. */
export function environmentOf({ instructions }: Stage): Record<string, string> {
  const pairs = instructions
    .filter(({ name }) => name === 'ENV')
    .flatMap(({ text }) => text.split(' '))
    .map((pair) => pair.split(/=(.*)/su).slice(0, 2));
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** Whether a `.dockerignore` leaves out a file, by its path from the top of the checkout. */
export function ignores(dockerignore: string, path: string): boolean {
  const patterns = dockerignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return patterns.some((pattern) => expressionOf(pattern).test(path));
}

/** `*` is anything but a slash, `**` followed by a slash any folders; a folder covers its files. */
function expressionOf(pattern: string): RegExp {
  const parts = pattern
    .replaceAll('.', '\\.')
    .replaceAll('**/', '\u0000')
    .replaceAll('*', '[^/]*')
    .replaceAll('\u0000', '(?:.*/)?');
  return new RegExp(`^${parts}(?:/|$)`, 'u');
}
