// `npm run soak -- operations`: markets behind Debian's nginx and Caddy with the files of ops/, over TLS
// on loopback. Prints a line a row; one that failed fails the soak.

import { parsed, understood } from '@parley/host/command.ts';
import { clientRows } from './clients.ts';
import { type Kind, obtain } from './programs.ts';
import { requestRows } from './requests.ts';
import { openGround, openScene, type Row, type Scene } from './scene.ts';
import { upstreamRows } from './upstreams.ts';

const rows: readonly Row[] = [...requestRows, ...clientRows, ...upstreamRows];
const kinds: readonly Kind[] = ['nginx', 'caddy'];

const usage = `usage: npm run node -- verify/test/proxy-soak/run.ts [--only PATTERN] [--proxy KIND]
  --only   the rows whose names fit this regular expression
  --proxy  ${kinds.join(' or ')}
Exit status: 0 all passed, 1 one did not, 2 not understood.`;

const asked = understood({
  usage,
  understand: (args) => {
    const text = { type: 'string', default: '' } as const;
    const options = { only: text, proxy: text, help: { type: 'boolean' } } as const;
    const { values } = parsed({ args, options });
    return values.help ? null : { only: new RegExp(values.only), proxy: values.proxy };
  },
});

async function play(scene: Scene, { name, play }: Row): Promise<boolean> {
  const { kind, version } = scene.program;
  try {
    console.log(`${kind} ${version} ${name}: ${await play(scene)}`);
    return true;
  } catch (error) {
    console.log(`${kind} ${version} ${name}: FAILED`);
    console.error(error);
    return false;
  }
}

let passed = 0;
let failed = 0;
const programs = await Promise.all(
  kinds.filter((kind) => ['', kind].includes(asked.proxy)).map(obtain),
);
const ground = await openGround();
try {
  for (const program of programs) {
    const scene = await openScene(ground, program);
    try {
      for (const row of rows) {
        if (!asked.only.test(row.name) || (row.only ?? program.kind) !== program.kind) continue;
        if (await play(scene, row)) passed += 1;
        else failed += 1;
      }
    } finally {
      await scene.close();
    }
  }
} finally {
  await ground.stage.close();
}
const versions = programs.map(({ kind, version }) => `${kind} ${version}`).join(' and ');
console.log(`proxy: ${passed} rows passed, ${failed} failed, behind ${versions}`);
// A pattern or a proxy that fits nothing has shown nothing.
process.exit(failed === 0 && passed > 0 ? 0 : 1);
