/** Red, green and blue, each 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

export interface Shot {
  width: number;
  height: number;
  /** How many colours the sky has, from the top down. */
  shades: number;
  /** From 0, when the sun rises on the left, to 1, when it sets on the right. */
  time: number;
}

const HILLS = [
  { base: 0.62, light: 0.42 },
  { base: 0.74, light: 0.3 },
  { base: 0.87, light: 0.19 },
];
const TURN = 2 * Math.PI;

/** The colours of a landscape: the sky's shades first, then the sun, then the hills. */
export function palette(seed: number, { shades, time }: Pick<Shot, 'shades' | 'time'>): Rgb[] {
  const hue = (seed % 360) + 40 * time;
  const day = 0.7 + 0.3 * Math.sin(Math.PI * time);
  const sky = Array.from({ length: shades }, (_, at) => {
    const depth = at / Math.max(1, shades - 1);
    return rgb(hue + 60 * depth, 0.55 + 0.3 * depth, day * (0.38 + 0.42 * depth));
  });
  const hills = HILLS.map(({ light }) => rgb(hue - 25, 0.4, day * light));
  return [...sky, rgb(hue + 75, 0.95, 0.9 * day), ...hills];
}

/** A landscape as numbers of colours in its palette, row by row, one byte a cell. */
export function paint(seed: number, shot: Shot): Uint8Array {
  const { width, height, shades } = shot;
  const cells = new Uint8Array(width * height);
  const hills = HILLS.map(({ base }, at) => horizon(seed, at, base, shot));
  const tops = hills.map((heights) => Math.min(...heights));
  for (let y = 0; y < height; y += 1) {
    const row = cells.subarray(y * width, (y + 1) * width);
    row.fill(Math.floor((y / height) * shades));
    shine(row, y, shot);
    for (const [at, heights] of hills.entries()) {
      if (y < (tops[at] ?? 0)) continue;
      const colour = shades + 1 + at;
      for (let x = 0; x < width; x += 1) if (y >= (heights[x] ?? 0)) row[x] = colour;
    }
  }
  return cells;
}

/** The part of the sun that lies in a row. */
function shine(row: Uint8Array, y: number, { width, height, shades, time }: Shot): void {
  const radius = 0.1 * Math.min(width, height);
  const x = width * (0.15 + 0.7 * time);
  const distance = y + 0.5 - height * (0.5 - 0.28 * Math.sin(Math.PI * time));
  if (Math.abs(distance) >= radius) return;
  const half = Math.sqrt(radius ** 2 - distance ** 2);
  row.fill(shades, Math.max(0, Math.round(x - half)), Math.max(0, Math.round(x + half)));
}

/** The first row of a hill in each column. */
function horizon(seed: number, at: number, base: number, { width, height }: Shot): number[] {
  const phase = (seed >>> (at * 7)) / 1_000;
  const waves = 1 + ((seed >>> (at * 3 + 4)) % 3);
  return Array.from({ length: width }, (_, x) => {
    const turns = TURN * (x / width);
    const wave = 0.6 * Math.sin(waves * turns + phase) + 0.4 * Math.sin(2.3 * turns + 2 * phase);
    return Math.round(height * (base - 0.07 * wave));
  });
}

/** From a hue in degrees, and saturation and lightness from 0 to 1. */
function rgb(hue: number, saturation: number, lightness: number): Rgb {
  const chroma = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const sector = (((offset + hue / 30) % 12) + 12) % 12;
    return Math.round(
      255 * (lightness - chroma * Math.max(-1, Math.min(sector - 3, 9 - sector, 1))),
    );
  };
  return [channel(0), channel(8), channel(4)];
}
