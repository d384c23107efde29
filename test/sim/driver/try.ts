import './hooks.ts';
const real = process.hrtime.bigint;
const { simulateDriver } = await import('./simulate.ts');
const [from = 1, n = 1, story] = process.argv.slice(2).map(Number);
let ms = 0;
const total = new Map<string, number>();
for (let seed = from; seed < from + n; seed += 1) {
  const t = real();
  const done = await simulateDriver(seed);
  const took = Number(real() - t) / 1e6; ms += took;
  for (const [k, v] of done.counts) total.set(k, (total.get(k) ?? 0) + v);
  if (done.violations.length > 0 || story) console.log(`seed ${seed} ${took.toFixed()} ms`, done.violations.map((v) => `${v.rule}: ${v.what}`).join('\n   '), story ? `\n${done.story.join('\n')}` : '');
}
console.log((ms / n).toFixed(1), 'ms each', [...total].sort().map(([k, v]) => `${v} ${k}`).join(', '));
process.exit();
