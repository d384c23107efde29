// A picture of a screen as a small PNG: at most 256 colours, and rows below a height left out. Read
// is PNG (W3C) as Chromium writes it: 8 bits a channel, not interlaced.

import assert from 'node:assert/strict';
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const mostColours = 256;

export function palettePng(png: Buffer, mostRows: number): Buffer {
  const { width, height, channels, rows } = decoded(png);
  const kept = Math.min(height, mostRows);
  const colours = new Map<number, number>();
  const out = Buffer.alloc((width + 1) * kept);
  for (let y = 0; y < kept; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * channels;
      const colour = near(rows[at] ?? 0, rows[at + 1] ?? 0, rows[at + 2] ?? 0);
      const index = colours.get(colour) ?? colours.size;
      colours.set(colour, index);
      out[y * (width + 1) + 1 + x] = Math.min(index, mostColours - 1);
    }
  }
  assert.ok(colours.size <= mostColours, `${colours.size} colours`);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(kept, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const palette = Buffer.alloc(colours.size * 3);
  for (const [colour, index] of colours) palette.writeUIntBE(colour, index * 3, 3);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(out, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Greys stay grey: text and surfaces are made of them. Other colours have four bits a channel. */
function near(red: number, green: number, blue: number): number {
  const isGrey = Math.max(red, green, blue) - Math.min(red, green, blue) < 8;
  if (isGrey) return Math.min(255, Math.round(green / 4) * 4) * 0x01_01_01;
  const [r = 0, g = 0, b = 0] = [red, green, blue].map((each) => Math.round(each / 17) * 17);
  return r * 0x1_00_00 + g * 0x1_00 + b;
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const length = Buffer.alloc(4);
  const check = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

function decoded(png: Buffer) {
  assert.ok(png.subarray(0, 8).equals(signature), 'no PNG');
  const parts: Buffer[] = [];
  let header: Buffer = Buffer.alloc(0);
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const name = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (name === 'IHDR') header = data;
    if (name === 'IDAT') parts.push(data);
    at += length + 12;
  }
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  const channels = header[9] === 6 ? 4 : 3;
  assert.ok(header[8] === 8 && header[12] === 0, 'not as Chromium writes it');
  const packed = inflateSync(Buffer.concat(parts));
  return { width, height, channels, rows: unfiltered(packed, { width, height, channels }) };
}

type Size = { readonly width: number; readonly height: number; readonly channels: number };

function unfiltered(packed: Buffer, { width, height, channels }: Size): Buffer {
  const line = width * channels;
  const rows = Buffer.alloc(line * height);
  for (let y = 0; y < height; y += 1) {
    const filter = packed[y * (line + 1)] ?? 0;
    for (let x = 0; x < line; x += 1) {
      const left = x < channels ? 0 : (rows[y * line + x - channels] ?? 0);
      const up = y === 0 ? 0 : (rows[(y - 1) * line + x] ?? 0);
      const corner = y === 0 || x < channels ? 0 : (rows[(y - 1) * line + x - channels] ?? 0);
      const before = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      rows[y * line + x] = (packed[y * (line + 1) + 1 + x] ?? 0) + before;
    }
  }
  return rows;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [left, up, corner].map((each) => Math.abs(guess - each)) as [
    number,
    number,
    number,
  ];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
