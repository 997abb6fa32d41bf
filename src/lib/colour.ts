const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

export type Colour = keyof typeof CODES;

/** Puts text into a colour of the terminal, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string;

export const inColour: Paint = (colour, text) => `\u001B[${CODES[colour]}m${text}\u001B[0m`;

export const plain: Paint = (_colour, text) => text;
