// A screen at three widths, light and dark, in one picture: six looks at the same page, so that a
// state is pictured as it stands.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const widths = [1_280, 768, 390] as const;
const schemes = ['light', 'dark'] as const;
/** A longer page is cut: what matters is above. */
const mostHeight = 1_400;
/** Of the pixels of a screen. */
const scale = 0.5;
const gap = 16;
const quality = 82;

export type Sheets = { take(page: Page, name: string): Promise<void> };

/** `folder`: where `name.webp` is written. */
export function sheetsIn(folder: string): Sheets {
  return {
    take: async (page, name) => {
      const before = page.viewportSize();
      const looks: Look[] = [];
      for (const colorScheme of schemes) {
        for (const width of widths) looks.push(await lookAt(page, colorScheme, width));
      }
      await page.emulateMedia({ colorScheme: null });
      if (before !== null) await page.setViewportSize(before);
      await writeFile(join(folder, `${name}.webp`), await together(page, looks));
    },
  };
}

type Look = { readonly png: string; readonly width: number; readonly height: number };

async function lookAt(
  page: Page,
  colorScheme: (typeof schemes)[number],
  width: number,
): Promise<Look> {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
  await page.evaluate(async () => {
    await document.fonts.ready;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    window.scrollTo(0, 0);
  });
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  const height = Math.min(whole, mostHeight);
  // What sticks to the bottom of the view is at the bottom of the picture.
  await page.setViewportSize({ width, height });
  const image = await page.screenshot({ animations: 'disabled' });
  return { png: image.toString('base64'), width, height };
}

/** WebP, drawn by the browser itself: a third of the bytes of a PNG. */
async function together(of: Page, looks: readonly Look[]): Promise<Buffer> {
  const context = await of.context().browser()?.newContext();
  if (context === undefined) throw new Error('the browser is gone');
  try {
    const page = await context.newPage();
    const images = looks.map(
      ({ png, width }) =>
        `<img src="data:image/png;base64,${png}" width="${width * scale}" alt="">`,
    );
    const columns = widths.map((each) => `${each * scale}px`).join(' ');
    await page.setContent(
      `<style>body{margin:0;padding:${gap}px;background:#77797d;display:inline-grid;gap:${gap}px;` +
        `grid-template-columns:${columns};align-items:start}img{display:block}</style>` +
        images.join(''),
    );
    const box = await page.evaluate(() => {
      const { width, height } = document.body.getBoundingClientRect();
      return { width: Math.ceil(width), height: Math.ceil(height) };
    });
    await page.setViewportSize(box);
    const cdp = await context.newCDPSession(page);
    const { data } = await cdp.send('Page.captureScreenshot', { format: 'webp', quality });
    return Buffer.from(data, 'base64');
  } finally {
    await context.close();
  }
}
