import { launch } from './test/support/chromium.ts';
const b = await launch();
const scheme = process.argv[2] ?? 'light'; const width = Number(process.argv[3] ?? 1200);
const c = await b.newContext({ colorScheme: scheme, viewport: { width, height: 900 } });
for (const path of process.argv.slice(4)) {
  const p = await c.newPage();
  p.on('console', (m) => m.type() === 'error' && console.log(path, m.text()));
  await p.goto('http://localhost:18080' + path); await p.waitForTimeout(1500);
  await p.screenshot({ path: `/tmp/lead-shots/${scheme}-${width}-${path.replaceAll('/', '_')}.png`, fullPage: true });
  await p.close();
}
await b.close();
