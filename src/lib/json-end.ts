/** Finds the end of a JSON object or list that arrives in pieces. */
export class JsonEnd {
  /** Whether all of the object or list has been read. Never true for another text. */
  isWhole = false;
  #state: 'before' | 'within' | 'string' | 'escape' | 'other' = 'before';
  /** The objects and lists that are open. */
  #depth = 0;

  read(text: string): void {
    for (const character of text) {
      if (this.isWhole || this.#state === 'other') return;
      this.#readCharacter(character);
    }
  }

  #readCharacter(character: string): void {
    if (this.#state === 'escape') this.#state = 'string';
    else if (this.#state === 'string') {
      if (character === '"') this.#state = 'within';
      else if (character === '\\') this.#state = 'escape';
    } else if (character === '{' || character === '[') {
      this.#state = 'within';
      this.#depth += 1;
    } else if (this.#state === 'before') {
      if (character.trim() !== '') this.#state = 'other';
    } else if (character === '"') this.#state = 'string';
    else if (character === '}' || character === ']') {
      this.#depth -= 1;
      this.isWhole = this.#depth === 0;
    }
  }
}
