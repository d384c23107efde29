// Tests only: the script that gives a page wallets, for `page.addInitScript({ content })`.

import { join } from 'node:path';
import { build, type Rolldown } from 'vite';
import { sourceConditions } from '../../vite.config.ts';
import type { WalletSettings } from './settings.ts';

let bundled: Promise<string> | null = null;

/**
 * The script of a browser with these wallets. Tests tell them what to do by
 * `window.walletDoubles[name]`.
 */
export async function walletScript(settings: WalletSettings): Promise<string> {
  bundled ??= bundle();
  const said = JSON.stringify(settings);
  // A frame has them of its own, and a worker has none.
  return `if (self === top) { const walletSettings = ${said};\n${await bundled}\n}`;
}

async function bundle(): Promise<string> {
  const entry = join(import.meta.dirname, 'page.ts');
  const built = await build({
    configFile: false,
    resolve: { conditions: sourceConditions },
    logLevel: 'error',
    build: {
      write: false,
      minify: false,
      lib: { entry, formats: ['iife'], name: 'walletsOfTests', fileName: 'wallets' },
    },
  });
  const { output } = (built as Rolldown.RolldownOutput[])[0] as Rolldown.RolldownOutput;
  return output[0].code;
}
