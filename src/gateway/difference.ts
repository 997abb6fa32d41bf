/** One change between two configurations, in a sentence. */
export interface Difference {
  /** Whether clients lose something that worked before. */
  loses: boolean;
  text: string;
}

export function lossOf(text: string): Difference {
  return { loses: true, text };
}

export function changeOf(text: string): Difference {
  return { loses: false, text };
}
