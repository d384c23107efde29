// Pictures of Prometheus' own pages for docs/watch.md, by the Chromium of the web tests: the alerts
// of the moment in which most fire, and at the end each of them over time.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { launch } from '../support/chromium.ts';
import { palettePng } from '../web-soak/palette.ts';

const folder = join(import.meta.dirname, '../../docs/pictures');
const size = { width: 1_200, height: 400 };
const mostBytes = 150 * 1_024;
const mostRows = 4_000;

/** Its icons are of a font that Debian keeps elsewhere; the rules lie in a folder of the soak. */
const hidden = [
  '.glyphicon',
  '.alert_details pre',
  '#alertsTable tr.alert-success',
  '#alertsTable > tbody > tr:not(.alert, .alert_details)',
];
const onlyFiring = `${hidden.join(', ')} { display: none !important }
  nav { position: static !important }
  body { padding-top: 0 !important }`;

export type Pictures = {
  /** Unless more fired in one before. */
  ofAlerts(firing: number): Promise<void>;
  ofTime(): Promise<void>;
  /** Of those that could not be taken: the former ones stay. */
  readonly wrong: readonly string[];
  close(): Promise<void>;
};

export async function takePictures(url: string): Promise<Pictures> {
  const browser = await launch();
  const page = await browser.newPage({ viewport: size });
  const began = Date.now();
  let most = 0;
  const take = async (name: string) => {
    const png = palettePng(await page.screenshot({ fullPage: true }), mostRows);
    if (png.length > mostBytes) throw new Error(`${name}.png would have ${png.length} bytes`);
    await writeFile(join(folder, `${name}.png`), png);
  };
  const wrong: string[] = [];
  // A picture must not end the soak.
  const tried = (picture: Promise<void>) =>
    picture.catch((error: unknown) => void wrong.push(String(error)));
  const pictures = {
    ofAlerts: async (firing: number) => {
      if (firing <= most) return;
      most = firing;
      await page.goto(`${url}/classic/alerts`);
      await page.locator('#alertsTable').waitFor();
      await page.addStyleTag({ content: onlyFiring });
      await page.locator('div.show-annotations').first().click();
      for (const each of await page.locator('tr.alert_header.alert-danger').all()) {
        await each.click();
      }
      await take('alerts');
    },
    ofTime: async () => {
      const minutes = Math.ceil((Date.now() - began) / 60_000);
      const expression = encodeURIComponent('sum by (alertname) (ALERTS{alertstate="firing"})');
      const query = `g0.expr=${expression}&g0.tab=0&g0.stacked=1&g0.range_input=${minutes}m`;
      await page.goto(`${url}/classic/graph?${query}`);
      await page.locator('.rickshaw_graph svg').first().waitFor();
      await page.locator('.legend .line').first().waitFor();
      await take('alerts-fired');
    },
  };
  return {
    ofAlerts: (firing) => tried(pictures.ofAlerts(firing)),
    ofTime: () => tried(pictures.ofTime()),
    wrong,
    close: () => browser.close(),
  };
}
